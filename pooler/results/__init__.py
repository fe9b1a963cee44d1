"""What commands compute: results and their tables."""
