"""The line mode: the same session over plain lines."""
