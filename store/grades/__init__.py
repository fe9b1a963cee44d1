"""From votes to qrels: votes, policies, final grades; what the choices are called."""

from typing import Literal

Rule = Literal["majority", "median", "mean", "min", "max", "sum", "dawid-skene"]
Collapse = Literal["before", "after"]
