"""Pages of the documentation that are made of the program when the site is built."""
