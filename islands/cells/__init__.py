"""Many runs: a plan of cells, a folder with a store, the ranks that make the cells, and a table.

`islands run` with several runs and `islands tune` are here; `bench` and `reproduce` use the engine.
"""

METRICS = ("gap", "cost", "evaluations")
"""The measures by which `tune` compares runs."""
