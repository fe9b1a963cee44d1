"""The command line and the sample collection."""

from tests.cli.conftest import cli, collection_of, here, judged

__all__ = ["cli", "collection_of", "here", "judged"]
