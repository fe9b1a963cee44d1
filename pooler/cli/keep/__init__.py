"""Commands that export and keep."""
