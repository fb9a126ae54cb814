"""Other programs that `bench quality` and `bench many` compare with islands.

- `Rival` (`base.py`): the interface of such a program: which problems it solves, and how.
- `RIVALS` (`contest.py`): all of them by name; each runs in a process of its own.
- `rivals.toml`: their packages, and the problems that they solve.

They are optional packages, which are imported only when they are used. May import what `bench` may.
"""
