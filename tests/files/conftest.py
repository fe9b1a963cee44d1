"""The command line beside the readers of files."""

from tests.cli.conftest import cli, garden, here, judged

__all__ = ["cli", "garden", "here", "judged"]
