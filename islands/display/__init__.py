"""The output of a run on the terminal and in log.txt.

Only rank 0 prints. The texts of the header, the table of progress and the notices are here, those
of errors are where the error is raised.

- `Screen`: prints lines to a stream and, in full, to the log.
- `ProgressTable`: the rows of progress of a run, with their columns.
- `StatusLine`: the last line of a terminal, which is rewritten.

May import `record`, `configuration`, `progress` and the layers below them.
"""
