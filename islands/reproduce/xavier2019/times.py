"""Table 2: the seconds of 1000 generations on the 21 national instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import INSTANCE, Fact, Plot, TableRow, mean_ratio
from islands.reproduce.selection import named
from islands.reproduce.table import PaperTable
from islands.reproduce.timing import (
    cpu_cells,
    median_run,
    paper_seconds,
    speedup_facts,
    time_columns,
    time_curves,
    timed,
)
from islands.reproduce.xavier2019.figures import INTERPRETATIONS, MEAN_SPEEDUPS, printed
from islands.tables import Column
from islands.text import counted

_API_THREADS = (1, 4, 8)


class NationalTimesTable(PaperTable):
    """Our seconds and the paper's four columns."""

    name: ClassVar[str] = "times"
    title: ClassVar[str] = "table 2: seconds of the generation loop"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    is_timed: ClassVar[bool] = True
    preset: ClassVar[str] = "xavier2019"
    generations: ClassVar[int] = 1000
    runs: ClassVar[int] = 3

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the national instances of the paper."""
        return [named(name, index) for name in printed()]

    def columns(self) -> list[Column]:
        """Return our seconds, the CPU's, the paper's, and the ratio of brkgaCuda's to ours."""
        api = [Column(f"api_{each}_seconds", f"API {each} s", 7, ".2f") for each in _API_THREADS]
        return [
            *INSTANCE,
            *time_columns(self.experiment.threads),
            Column("cuda_seconds", "brkgaCuda s", 11, ".2f"),
            *api,
            Column("speedup_paper", "brkgaCuda/ours", 14, ".1f"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Time an instance: the median of several runs."""
        experiment, seeds = self.experiment, self.experiment.seeds(self.runs)
        if experiment.backend == "cpu":
            results = [timed(experiment, problem, seed) for seed in seeds]
        else:
            results = [experiment.run(problem, seed) for seed in seeds]
        run = median_run(results, experiment)
        ours = paper_seconds(run, experiment)
        paper = printed()[problem.instance]
        yield {
            "instance": problem.instance,
            "cities": problem.size,
            "seconds": ours,
            "generations": run.generations,
            **cpu_cells(experiment, problem, ours),
            "cuda_seconds": paper.cuda_seconds,
            **{f"api_{each}_seconds": paper.api_seconds[each] for each in _API_THREADS},
            "speedup_paper": paper.cuda_seconds / ours,
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean speed-ups over our CPU and over the paper's times."""
        mean = mean_ratio(rows, "cuda_seconds", "seconds")
        sentence = f"mean of brkgaCuda's printed seconds over ours: {mean:.1f}"
        over_paper = Fact("mean_speedup_paper", mean, sentence)
        return [*speedup_facts(rows, self.experiment, MEAN_SPEEDUPS), over_paper]

    def plots(self) -> list[Plot]:
        """Return a plot of our times and the paper's."""
        api = {
            f"api_{each}_seconds": f"brkgaAPI 2019, {counted(each, 'thread')}"
            for each in _API_THREADS
        }
        paper = {"cuda_seconds": "brkgaCuda 2019, MX150"} | api
        return [Plot("seconds", time_curves(self.experiment) | paper)]
