"""Judging in a browser: a server that lets judges in, and runs the judging screen of each in a process."""
