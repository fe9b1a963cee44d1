"""Runs in, pools out; and the command line."""

__version__: str


def __getattr__(name: str) -> str:
    """Look up `__version__` when it is asked for: importlib.metadata costs 30 ms at every start."""
    if name != "__version__":
        message = f"module 'pooler' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pooler")
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "0+unknown"
