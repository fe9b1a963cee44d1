"""Near-duplicates of a collection: compared, carried over, graded alike or not."""
