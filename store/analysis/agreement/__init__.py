"""Agreement of judges.

A coefficient has a form for stacks of tables or sums, which resampling uses, and a column in `pair_columns`
of `pooler.commands.qrels.agreement`.
"""
