"""From votes to qrels: votes, policies, final grades."""
