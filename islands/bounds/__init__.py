"""Lower bounds on tour lengths, and upper bounds on knapsack profits.

A bound limits the distance of the best solution from the optimum. Its computation has a time limit.

- `Bound`: the value, and whether the computation was complete.
- `Graph`: a sparse graph of near cities, with its minimum 1-trees.
- `BoundMethod`: which computation is used for a problem, and its time limit.

May import `problems`, `instances`, `backends` and the layers below them.
"""
