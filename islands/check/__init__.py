"""Compare all ways to evaluate the solutions of a problem, and find faults in its functions.

It implements `islands check` and `islands.check_problem`. As CUDA code of users may crash or hang,
it first runs in a separate process.

- `Way`: one way to compute costs: compiled code on a backend, a Python function, the reference.
- `Walk`: a sequence of random moves, after which costs and cost changes are compared.
- `Checked`: the report: a row for each way, and the first difference.

May import `modelling`, `problems`, `backends` and the layers below them.
"""
