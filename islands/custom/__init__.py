"""Parts that users' scripts define, in addition to the built-in parts."""
