"""The command line: how options are typed, tables printed, and errors reported."""
