"""Run files, read strictly and fast."""
