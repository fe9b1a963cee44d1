"""From votes to qrels: votes, definitions, final grades; what the choices are called."""

from typing import Literal

Aggregate = Literal["primary", "majority", "median", "mean", "min", "max", "sum", "dawid-skene"]
