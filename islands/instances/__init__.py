"""Instances: the catalogue of published sets, and reading and writing of files.

Files may come from anybody: readers limit memory and sizes, and an error names the file and the
line. A new format is a reader and an entry of `formats.py`.

- `Catalogue`: the published sets, with the best known value of each instance.
- `Finder`: finds the file of an instance by its name or path.
- `TspFile`, `QapFile`, `MkpFile`: the content of a file, before it becomes a `Problem`.

May import `backends` and the basic modules, such as `text` and `errors`.
"""
