"""Commands that evaluate searches, which a solver does not need.

`bench` measures, `papers` repeats published experiments, `pages` compares runs in HTML, and
`clusters` submits and follows Slurm jobs. They use the solver, and the solver does not depend on
them: only the modules of `islands.cli` import this folder, when their commands are called.

- `Campaign` (`islands.cells`): the runs of a study.
- `Table` (`islands.tables`): the results of a study, written to a folder.
- `Page` (`islands.report`): the HTML page of a study.

They are not limited to the public interface: methods with equal settings are resolved once, for all
seeds; benchmarks of a component (launches, migration, a kernel) import its folder, and jobs handle
the folders of runs. May import every folder of `islands` except `cli`. `bench` and `papers` also
import `pages`.
"""
