"""Who may come in, and do what: roles on PostgreSQL, enforced by the server itself; access codes for browsers.

`sight` is the table of it, column by column; `functions` are what judges call instead of having rights;
`statements` makes SQL of both, `grants` runs it, `faults` compares a server with it. `codes` are a way in by a
browser, on any database.
"""
