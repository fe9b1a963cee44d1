"""A collection as its users see it."""
