"""Results about scores: of runs, of pairs of runs, of a sample."""
