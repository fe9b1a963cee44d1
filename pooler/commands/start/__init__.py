"""How a collection begins."""
