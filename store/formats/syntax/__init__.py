"""What files are made of: bytes and lines, compression, tables, JSON lines, SGML."""
