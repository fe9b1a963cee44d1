"""Screens of the judging interface."""
