"""One run: prepared, evolved by one of the loops, ended by a criterion or a signal."""
