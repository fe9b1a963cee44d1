"""Results about relevant documents that nobody judged."""
