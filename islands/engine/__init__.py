"""Prepare one run, evolve it, and end it at a criterion or signal; schedule many runs.

`runner.py` goes from the settings to a result, `loop.py` advances the islands, and `single.py` does
what precedes and follows the search. `scheduler.py` makes many runs on threads, streams and ranks.

- `Loop`: advances an archipelago from visit to visit, and evaluates the stopping criteria.
- `Observer`: a side effect of a run: records, checkpoints, output, callbacks.
- `Plan`: the runs that a command or call requests; a cell is one of them.

May import `record`, `display`, `configuration`, `archipelago` and the layers below them.
"""
