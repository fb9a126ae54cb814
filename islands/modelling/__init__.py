"""Models: problems of a user's own, from a script: what a solution is, and what it costs.

`api.py` has the public functions, such as `permutation`; the other files turn their arguments into
a problem: checked data, a kernel header with the user's code, and the evaluation in Python.

- `Model`: a problem of a user, a subclass of `Problem`.
- `Statement`: what a user gives for the cost: code or functions, data, and how to read it.
- `Functions`: the kernel header: data, the user's functions, and the adapter to the search.

May import `problems`, `space`, `instances`, `backends` and the layers below them.
"""
