"""The folder of a run: settings, lock, trace, migrations, checkpoints and solution."""
