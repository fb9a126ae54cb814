"""Instances: the catalogue of published sets, and the formats of instances and solutions.

Files are not trusted: readers limit memory and sizes, and an error names the file and the line. To
add a format, write a reader and add it to `formats.py`.

- `Catalogue`: the published sets, with the best known value of each instance.
- `Finder`: finds the file of an instance by its name or path.
- `TspFile`, `QapFile`, `MkpFile`: the content of a file, before it becomes a `Problem`.

May import `backends` and the basic modules, such as `text` and `errors`.
"""
