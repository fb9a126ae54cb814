"""User-defined problems: a kind of solution, and functions that compute its cost.

`api.py` has the public functions, such as `permutation`; the other files turn their arguments into
a problem: validated data, a kernel header with the user's code, and the evaluation in Python.

- `Model`: a user-defined problem, a subclass of `Problem`.
- `Statement`: the arguments that define the cost, such as code, functions and data.
- `Functions`: the kernel header: data, the user's functions, and the adapter to the search.

May import `problems`, `space`, `instances`, `backends` and the layers below them.
"""
