"""How scores move when documents are judged anew: Kishida 2001, section 3."""
