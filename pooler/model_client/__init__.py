"""Asking a model: the prompt, one request, what was answered, and a whole run of requests."""
