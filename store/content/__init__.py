"""Topics, documents, runs and pools of a collection."""
