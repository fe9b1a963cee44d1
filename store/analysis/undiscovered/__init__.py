"""Relevant unjudged documents: Kishida 2001, section 4."""
