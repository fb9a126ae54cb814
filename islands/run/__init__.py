"""One run: what was asked for, the loop, when it stops, and what it leaves behind."""
