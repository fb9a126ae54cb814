"""Compare all ways to evaluate the solutions of a problem, and find faults of its functions.

This is `islands check` and `islands.check_problem`. CUDA code of a user runs in a separate process
first, which may crash or hang.

- `Way`: one way to compute costs: compiled on a backend, by a Python function, by the reference.
- `Walk`: a sequence of random moves, whose cost changes are compared with costs.
- `Checked`: the report: a row for each way, and the first difference.

May import `modelling`, `problems`, `backends` and the layers below them.
"""
