"""Several runs, one after the other: their plan, their ledger and the table of all."""
