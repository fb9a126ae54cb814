"""Other programs that `quality` and `many` compare with our runs.

`base.py` says what such a program has to provide; `contest.py` lists all of them and runs them in
processes of their own. Programs are optional packages, which are imported when they are asked for.
"""
