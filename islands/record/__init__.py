"""The folder of a run: settings, lock, trace, migrations, checkpoints and solution.

Files are written atomically, have checksums, and are read with limits, as others may have written
them. `docs/results.md` describes them.

- `Journal`: writes all files of a new or resumed run, except its log.
- `Record`: the trace or the migrations, with one file per rank.
- `Checkpoints`: writes the arrays of all ranks; a checkpoint is valid if it has a manifest.

May import `configuration`, `progress`, `modelling` and the layers below them.
"""
