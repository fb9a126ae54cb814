"""Slurm jobs: what runs inside a job, and how jobs are written, submitted and followed.

`submit.py` writes the script of a job and calls sbatch, `run_job.py` performs an attempt inside the
job, `sweep.py` does so for arrays, and `follow.py` finds out the state of any folder. A run inside
a job is an ordinary command line under mpirun or srun, which `ranks.py` writes, so that the solver
needs nothing from here. submitit is not used: it submits a pickled function, while a job here is a
script that users can read, edit and submit again with sbatch, with MPI ranks on several nodes.

- May import: the folders of runs (`islands.record`) and what a request needs
  (`islands.configuration`, `islands.engine`); nothing else of `islands.studies`.
- The nouns: `Job`, what was submitted; `JobAttempt`, a start of the job, of which a requeued job
  has several; `Allocation`, the nodes of an attempt, on which a `Launcher` starts the ranks.
"""
