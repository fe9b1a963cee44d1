"""Texts searched, marked and cut into sentences."""
