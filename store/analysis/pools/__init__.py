"""What pools brought, and whether they can be trusted."""
