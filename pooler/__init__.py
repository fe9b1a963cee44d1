"""Runs in, pools out; and the command line."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pooler")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"
