"""A judge audited against people: `pooler audit`."""
