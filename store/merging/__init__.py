"""Copies of one collection that were worked on apart, brought together again."""
