"""Commands of judging, and for looking at it."""
