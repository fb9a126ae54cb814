"""Other programs that `quality` and `many` compare with our runs.

`base.py` defines the interface of such a program; `contest.py` lists all of them, and runs them in
processes of their own. Programs are optional packages, which are imported only when they are used.
"""
