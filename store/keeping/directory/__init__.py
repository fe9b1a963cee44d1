"""A collection as a directory of plain files, and back."""
