"""Measures of rankings, and how far they can be known."""
