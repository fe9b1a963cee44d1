"""What there is, how far it has come, and why: results of an open collection."""
