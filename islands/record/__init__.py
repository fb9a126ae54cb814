"""The folder of a run: settings, lock, trace, migrations, checkpoints and solution.

Files appear by renaming, have checksums, and are read with limits, as they may come from others.
`docs/results.md` describes them.

- `Journal`: everything that one start of a run writes, apart from its log.
- `Records`: the trace and the migrations, one file per rank and kind.
- `Checkpoint`: the arrays of all ranks, valid once its manifest is written.

May import `configuration`, `progress`, `modelling` and the layers below them.
"""
