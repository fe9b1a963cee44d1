"""Several judgements of a document become one; what ties may give."""

from typing import Literal

Ties = Literal["low", "high", "unresolved"]
TieRule = Literal["majority", "median"]
"""A rule that leaves votes tied unless a tie rule is given."""
