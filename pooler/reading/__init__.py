"""Run files, read strictly and fast.

A run file is read twice only where something may be wrong with it. The fast reader takes a block of lines at
a time, works on columns with numpy, and words no fault: at the first thing that is not plainly in order it
raises `fields.SuspicionError`, and `strict.py`, which goes line by line and has the one definition of what is
a fault, reads the file again. So whatever the fast reader takes, the strict one takes too and says the same
of it: `tests/files/` and the fuzzers hold them to that. A pipe is read strictly at once.

1. `blocks.py` reads 384 KiB, hashes them, takes off comments on top, and cuts where the last topic begins:
   the lines after that wait for the next block. So every block has whole topics, and a topic is in one block.
2. `fields.py` finds the blanks of a block. What stands between two of them is a field, or nothing; every
   sixth field is followed by a line end, and there is no other one. Six `FieldColumn` come of it: where a
   field begins in each line, and its length. Bytes are neither copied nor decoded. Columns are compared by
   words of 8 bytes: the tag is one throughout, and topics begin where their column changes.
3. `numbers.py` makes numbers of the columns of scores and ranks, all lines at once, to the last bit as
   `float` and `int` do. What has more digits than 24, or is odd otherwise, goes to them one by one.
4. `blocks.py` looks for a document twice in a topic: each docno has a key of 64 bits, and a table of places
   shows keys that meet. It yields a `WholeRanking` a topic, which makes docnos and ranks when asked.
5. What is wanted of a topic is made of it at once, and its block forgotten, so that memory holds a block and
   the results: `tops.py` takes the first documents for a pool, and makes docnos of no others; `whole.py`
   takes all, as names, or as numbers by the hash table of `docnos.py`; `check.py` looks for oddities.

`read_each` of `blocks.py` is steps 1 to 5 with the strict reader behind them. `parallel.py` shares many files
between processes: more than 20 MB of them, two processes. `run_list.py` reads lists of runs, `results.py`
tables of results, and `rules.py` what a track asks of a run.
"""
