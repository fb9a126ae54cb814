"""The folder of a run: settings, lock, trace, migrations, checkpoints and solution.

Files are written atomically, have checksums, and are read with limits, as others may have written
them. `docs/results.md` describes them.

- `Journal`: writes all files of one start of a run, except its log.
- `Record`: the trace or the migrations, with one file per rank.
- `Checkpoints`: the arrays of all ranks; a checkpoint is valid when it has a manifest.

May import `configuration`, `progress`, `modelling` and the layers below them.
"""
