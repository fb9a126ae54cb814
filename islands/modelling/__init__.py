"""Models: problems of a user's own, from a script: what a solution is, and what it costs."""
