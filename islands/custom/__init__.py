"""User-defined parts from scripts, in addition to the built-in parts.

It loads `FILE.py:NAME`, decides whether the script may run, and reports errors with the line of the
script. Scripts run only if they are named by the user or by a file that the user has signed.

- `PartKind`: a kind of part (crossover, topology, ...), its built-in names and its base class.
- `Trust`: the scripts that may run.
- signature: a line at the end of a file that only this user on this machine can write.

May import `backends`, `instances` and the basic modules, such as `text` and `errors`.
"""
