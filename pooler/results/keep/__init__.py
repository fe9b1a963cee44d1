"""Collections brought together, and checked against their own rules."""
