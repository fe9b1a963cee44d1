"""Results about scores and how far to trust them."""
