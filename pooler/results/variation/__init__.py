"""Results about judgements that vary: how likely documents are relevant, and what judging again moves."""
