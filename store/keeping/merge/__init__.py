"""Copies of one collection brought together."""
