"""The settings of a run: from what was asked for to a complete, checked `RunSpec`."""
