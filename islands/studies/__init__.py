"""Commands around the solver: benchmarks, experiments of papers, comparison pages and Slurm jobs.

`bench` measures, `papers` repeats published experiments, `pages` compares runs in HTML, and
`clusters` submits and follows Slurm jobs. They use the solver, and the solver does not depend on
them: only the modules of `islands.cli` import this folder, when their commands are called.

- `Campaign` (`islands.cells`): the runs of a study.
- `Table` (`islands.tables`): the results of a study, written to a folder.
- `Page` (`islands.report`): the HTML page of a study.

They use more than the public interface: the settings of a method are resolved once for all seeds,
the benchmark of a component (launches, migration, a kernel) imports its folder, and jobs handle the
folders of runs. May import every folder of `islands` except `cli`. `bench` and `papers` also import
`pages`.
"""
