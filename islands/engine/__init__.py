"""Perform a run, or schedule many of them.

One run: `runner.py` takes its device and creates its islands, `single.py` performs it with its
output and files, and `loop.py` advances the islands. Many runs: `scheduler.py` uses all ranks
(`dealing.py`) and threads (`workers.py`); a `Queue` sorts runs by kind (`sharing.py`), and those of
a kind share the launches of a `SharedLoop` (`shared.py`).

- `Loop`: advances an archipelago from visit to visit, and evaluates the stopping criteria.
- `Observer`: a side effect of a run: records, checkpoints, output, callbacks.
- `Plan`: the runs that a command or call requests; a cell is one of them.

May import `record`, `display`, `configuration`, `archipelago` and the layers below them.
"""
