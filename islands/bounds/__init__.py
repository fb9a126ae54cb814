"""Bounds: what no tour can be shorter than, and what no profit of a knapsack can exceed."""
