"""Judging in browsers: a server that lets judges in, and gives each of their windows a desk."""
