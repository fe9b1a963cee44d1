"""A judge's documents as one page for a browser, without a server and without a network."""
