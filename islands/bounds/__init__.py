"""Lower bounds of the lengths of tours: what no tour can be shorter than."""
