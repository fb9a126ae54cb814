"""The progress and the result of a run: plain records for all other packages."""
