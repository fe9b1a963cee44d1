"""Scores from a model's grades of all documents, corrected by people's grades of a sample."""
