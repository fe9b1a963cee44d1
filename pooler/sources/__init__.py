"""Runs and qrels: of files, of memory, of a collection, as `Source` gives them."""
