"""Commands that export, merge and keep."""
