"""The collection: what was pooled and judged, and what follows from it."""
