"""How a collection is kept."""
