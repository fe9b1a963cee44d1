"""Widgets of the judging interface."""
