"""Scores of runs, and how many topics they take."""
