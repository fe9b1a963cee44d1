"""Results about agreement and qrels."""
