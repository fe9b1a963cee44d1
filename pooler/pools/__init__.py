"""Pools planned, drawn live, replayed, compared."""
