"""Agreement of judges."""
