"""Slurm jobs: what runs inside one, and how the command line writes, sends and follows one."""
