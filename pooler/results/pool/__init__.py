"""Results about pools."""
