"""Where folders of tests took these fixtures from."""

from tests.helpers.fixtures import cli, collection_of, garden, here, judged, on_terminal, worked

__all__ = ["cli", "collection_of", "garden", "here", "judged", "on_terminal", "worked"]
