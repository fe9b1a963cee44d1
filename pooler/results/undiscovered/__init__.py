"""Results about relevant unjudged documents."""
