"""A judge's part as one page for a browser, without a server and without a network."""
