"""The report: one page of what the other commands print."""
