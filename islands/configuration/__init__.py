"""The settings of a run: from the user's options to a complete, checked `RunSpec`."""
