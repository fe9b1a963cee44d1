"""The command line beside the API."""

from tests.cli.conftest import cli, here, judged

__all__ = ["cli", "here", "judged"]
