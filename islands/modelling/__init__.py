"""Problems that a user states in a script: what a solution is, and what it costs."""
