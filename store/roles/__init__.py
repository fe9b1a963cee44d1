"""Who may come in and do what: roles on PostgreSQL, enforced by the server itself; codes for browsers.

`sight` is the table of the roles, column by column; `functions` are what judges call instead of having
rights; `statements` makes SQL of both, `grants` runs it, `faults` compares a server with it. `codes` are a
judge's way in by a browser, on any database.
"""
