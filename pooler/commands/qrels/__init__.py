"""How judgements become qrels, and how far judges agree."""
