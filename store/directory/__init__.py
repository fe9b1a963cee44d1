"""A collection as a directory that can be published, and read back as the same collection."""
