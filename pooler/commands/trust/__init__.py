"""How far judgements and scores can be trusted."""
