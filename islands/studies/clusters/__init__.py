"""Slurm jobs: write, submit and follow them, and execute runs inside of them.

`submit.py` writes the script of a job and calls sbatch, `run_job.py` performs an attempt inside the
job, `sweep.py` that of an array element, and `follow.py` determines the state of any folder. A run
inside a job is an ordinary command line under mpirun or srun, which `ranks.py` writes, so that the
solver does not depend on this folder. submitit is not used: it submits a pickled function, while
a job here is a script with MPI ranks on several nodes, which users can read, edit and submit again
with sbatch.

- `Job`: a submitted job.
- `JobAttempt`: one start of the job; a requeued job has several.
- `Allocation`: the nodes of an attempt, on which a `Launcher` starts the ranks.

May import `record`, `configuration` and `engine`, but no other folder of `islands.studies`.
"""
