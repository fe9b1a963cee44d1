"""Commands that bring things into a collection."""
