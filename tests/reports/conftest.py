"""The command line and the sample collection."""

from tests.cli.conftest import cli, collection_of, garden, here, judged, worked

__all__ = ["cli", "collection_of", "garden", "here", "judged", "worked"]
