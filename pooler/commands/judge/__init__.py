"""Who judges what, and where."""
