-- A module file (Lmod) for islands in a virtual environment that all users can read:
--   python3 -m venv PREFIX/islands && PREFIX/islands/bin/pip install 'islands[cuda13]'
--   PREFIX/islands/bin/pip install --no-binary mpi4py mpi4py    with the MPI of the cluster
-- Replace PREFIX, and the name of the MPI module, then copy this file to a folder of MODULEPATH as islands/VERSION.lua.
help([[islands: a distributed multi-GPU island-model solver. islands --help, islands doctor]])
whatis("Name: islands")
whatis("Description: metaheuristics on GPUs and CPUs, with MPI")

depends_on("openmpi")
prepend_path("PATH", "PREFIX/islands/bin")
-- Compiled kernels are kept for each user; nodes may share a home folder.
