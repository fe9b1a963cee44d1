"""Near-duplicate documents: found exactly, put together."""
