"""One reader and writer a file format."""
