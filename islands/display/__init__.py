"""The output of a run on the terminal and in log.txt.

Only rank 0 prints. This folder contains the texts of the header, the table of progress and the
notices; the texts of errors are where the errors are raised.

- `Screen`: prints lines to a stream and, in full, to the log.
- `ProgressTable`: the rows of progress of a run, with their columns.
- `StatusLine`: the last line of a terminal, which is rewritten.

May import `record`, `configuration`, `progress` and the layers below them.
"""
