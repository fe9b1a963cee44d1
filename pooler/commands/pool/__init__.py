"""Which documents are judged."""
