"""Commands about agreement and qrels."""
