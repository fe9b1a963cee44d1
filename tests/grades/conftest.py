"""The command line and the sample collection."""

from tests.cli.conftest import cli, garden, here, judged

__all__ = ["cli", "garden", "here", "judged"]
