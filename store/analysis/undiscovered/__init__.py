"""Relevant documents that nobody judged: Kishida 2001, section 4."""
