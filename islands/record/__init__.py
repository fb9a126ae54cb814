"""The folder of a run: its settings, lock, trace, migrations, checkpoints and solution."""
