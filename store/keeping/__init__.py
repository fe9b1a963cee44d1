"""How a collection is kept: backups, checks, pages brought back, directories."""
