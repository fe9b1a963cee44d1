"""The database: engines, tables, rows, migrations."""
