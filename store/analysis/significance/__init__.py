"""Tests of differences between runs."""
