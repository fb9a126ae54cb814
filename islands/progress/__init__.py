"""The progress and the result of a run: plain records for all other packages.

The numbers pass from the islands to rank 0, and from there to the stopping criteria, the screen,
the files and the user's callback, which do not depend on each other.

- `Progress`: the state of a run at one moment, as a callback receives it.
- `Tally`: the numbers that ranks combine at the end of an epoch.
- `Result`: the best solution, its cost, and how the run went and ended.

May import `archipelago`, `migration`, `problems`, `parallel` and the layers below them.
"""
