"""Several judgements of a document become one."""
