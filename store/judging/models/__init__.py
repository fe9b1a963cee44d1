"""Judges that are models: who they are, what they answered, and the desk they work at."""
