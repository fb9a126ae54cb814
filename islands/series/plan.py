"""The runs of a series: all instances with one seed, then all with the next.

If the machine becomes slower, this affects all instances equally.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.custom.trust import NO_TRUST, Trust
from islands.display.heartbeat import is_of_work
from islands.errors import UsageError
from islands.inside import inside
from islands.parallel import World, differences
from islands.paths import reading
from islands.problems.base import Problem
from islands.record.folder import JOB, SETTINGS, refuse_unfit
from islands.record.inputs import require_intact
from islands.run.request import resolved
from islands.series.ledger import LEDGER, read_rows
from islands.text import option

_OWN = ("backend", "threads")
"""Settings that may differ between starts of a series, as they do not affect results."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a series."""

    spec: RunSpec
    problem: Problem

    @property
    def folder(self) -> str:
        """The name of the run's folder in the folder of the series."""
        return f"{self.problem.instance.split('/')[-1]}-seed{self.spec.general.seed}"

    def later(self, runs: int) -> PlannedRun:
        """Return the run of the same instance with the seed increased by `runs`."""
        return PlannedRun(replace(self.spec, general=self.spec.general.later(runs)), self.problem)


@dataclass(frozen=True)
class Plan:
    """All runs of a series."""

    first: tuple[PlannedRun, ...]
    """The run of each instance with the first seed."""
    runs: int
    trust: Trust = NO_TRUST
    """The scripts that files may name although the runs do not."""

    @classmethod
    def of(
        cls,
        instances: Sequence[str],
        runs: int,
        options: Mapping[str, Any],
        config: Path | None = None,
        trust: Trust = NO_TRUST,
    ) -> Self:
        """Resolve the settings of all runs; refuse invalid ones before the first run.

        `trust` are the scripts that the configuration file may name.
        """
        named: list[dict[str, str]] = [{"instance": name} for name in instances] or [{}]
        first = [
            PlannedRun(*resolved(layers({**options, **instance}, config, trust)))
            for instance in named
        ]
        if first[1:] and any(job.spec.start for job in first):
            raise UsageError(
                "--start with several instances: a solution belongs to one instance. Leave it"
                " out, or name one instance"
            )
        _refuse_duplicates(first)
        first[-1].later(runs - 1)
        return cls(tuple(first), runs, trust)

    def jobs(self) -> Iterator[PlannedRun]:
        """Yield the runs in order."""
        for number in range(self.runs):
            for job in self.first:
                yield job.later(number)

    def trust_in(self, job: PlannedRun) -> Trust:
        """Return the scripts that the folder of a run may name: its own ones too."""
        return self.trust.naming(job.spec.stored)

    def __len__(self) -> int:
        return self.runs * len(self.first)

    def require_agreement(self, world: World, folder: Path | None, *, force: bool) -> None:
        """Refuse ranks with different plans or folders; collective."""
        found = differences(
            world,
            {
                "the instances": ", ".join(job.folder for job in self.first),
                "the number of runs": self.runs,
                option("out"): str(folder),
                option("force"): force,
            },
        )
        if found:
            error = UsageError(
                f"the ranks would make different series of runs: {found}. Start all of them with"
                " the same options"
            )
            world.run_on_all(lambda: _raise(error))

    def refuse_unfit(self, folder: Path, *, force: bool) -> None:
        """Refuse a folder with foreign files and, without `force`, one with other runs."""
        with reading(folder):
            if not folder.exists():
                return
            if not folder.is_dir():
                raise UsageError(f"--out {folder}: is a file. Name a new or existing folder")
            names = {path.name for path in folder.iterdir()}
        mine = {job.folder: job for job in self.jobs() if job.folder in names}
        others = {
            name
            for name in names
            if not (name in mine or name == JOB or name.startswith(f".{LEDGER}."))
            and not is_of_work(name)
        }
        read_rows(folder)
        if others and LEDGER not in names:
            raise UsageError(
                f"--out {folder}: contains files, but no series. Name a new or empty"
                " folder, so that your files are not overwritten"
            )
        for name, job in mine.items():
            refuse_unfit(inside(folder, name), force=True)
            if not force and (folder / name / SETTINGS).exists():
                _refuse_other(folder, job, self.trust_in(job))


def _refuse_duplicates(jobs: Sequence[PlannedRun]) -> None:
    seen: dict[str, PlannedRun] = {}
    for job in jobs:
        other = seen.setdefault(job.folder, job)
        one, two = other.problem.instance, job.problem.instance
        if other is not job and one == two:
            raise UsageError(f"{one} is named twice. Name each instance once")
        if other is not job:
            raise UsageError(
                f"{one} and {two} would both have the folder {job.folder}. Run one of them in a"
                " series of its own"
            )


def _refuse_other(folder: Path, job: PlannedRun, trust: Trust) -> None:
    """Refuse a job's folder that contains a run with other settings."""
    stored = layers({}, require_intact(folder / job.folder), trust)
    kept = resolve(stored, job.problem).to_mapping()
    asked = job.spec.to_mapping()
    names = [name for name in asked | kept if name not in _OWN]
    differing = [name for name in names if asked.get(name) != kept.get(name)]
    if differing:
        raise UsageError(
            f"--out {folder}: {job.folder} contains a run with other settings:"
            f" {', '.join(differing)}. Name another folder, or pass --force to overwrite it"
        )


def _raise(error: UsageError) -> None:
    raise error
