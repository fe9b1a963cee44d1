"""Roles of a collection on PostgreSQL: what each may see and do, enforced by the server itself.

`sight` is the table of it, column by column; `functions` are what judges call instead of having rights;
`statements` makes SQL of both, `grants` runs it, `faults` compares a server with it.
"""
