"""Slurm jobs: what runs inside a job, and how jobs are written, submitted and followed."""
