"""The `pooler` command, one file a command."""
