"""A tuning: its configurations, instances and seeds, and the runs of one of them on an instance.

The settings identify a row of `tune.tsv`, so no configuration runs twice, even if other
configurations or instances are tuned in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from islands.algorithms import ALGORITHMS
from islands.backends.base import Backend
from islands.cells.configurations import (
    Candidates,
    Configuration,
    Domain,
    Owner,
    Values,
    domain,
    grid,
    random,
    require_distinct,
    words_of,
)
from islands.cells.series import PlannedRun, SeriesPlan
from islands.cells.store import Asked, Made
from islands.configuration.defaults import stand_in
from islands.configuration.fit import owners as owners_of
from islands.configuration.fit import require_block_memory, require_possible, unknown_setting
from islands.configuration.given import combined, gathered, of_table, twice
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import GROUPS, GeneralSettings, RunSpec
from islands.configuration.stop import Criterion
from islands.errors import UsageError
from islands.parallel import World, launched
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.result import Result
from islands.record.files import Row, read_table
from islands.run.build import take_device
from islands.run.repeats import Repeat, Repeats, seconds_of
from islands.run.waiting import waiting_for
from islands.settings import Settings

_NOT_TUNED = ("seed", "backend", "threads", "bound")
"""General settings that cannot be tuned."""
_NOT_WRITTEN = ("instance", *_NOT_TUNED)
"""Options that are not written with a configuration."""
_OWN = ("backend", "threads")
"""Settings that do not affect results."""
_QUALITY_KINDS = ("target", "gap", "best-known", "optimum")
_NONE = "-"
COLUMNS = (
    *("instance", "configuration", "values", "runs", "costs", "evaluations", "reached"),
    *("generations", "seconds", "elapsed", "backend", "device", "settings"),
)
"""Of `tune.tsv`. `seconds` are those of a run's search; `elapsed` those of all runs with
compilation."""
_ADDED = {"elapsed": "0"}
"""Columns that tables of earlier versions lack."""


@dataclass(frozen=True)
class TuneRequest:
    """The options that all configurations share, as given on the command line."""

    options: Mapping[str, Any]
    config: Path | None = None

    def spec(self, name: str, problem: Problem, values: Values) -> RunSpec:
        """Return the settings of a configuration on an instance, with the first seed."""
        asked = {**self.options, **values, "instance": name}
        merged = layers(asked, self.config)
        if launched()[1] == 1 or "gpus" in combined(merged):
            return resolve(merged, problem)
        # Each run has one rank, and the defaults of one.
        spec = resolve(layers({**asked, "gpus": 1}, self.config), problem)
        return replace(spec, general=spec.general.replace({"gpus": 0}))

    def settings(self, values: Values, spec: RunSpec) -> dict[str, Any]:
        """Return the requested options of a configuration in the form of `islands run --config`.

        `spec`, on any instance, gives the types of the values. Other settings are left out, as
        their defaults may depend on the instance.
        """
        merged = layers({**self.options, **values}, self.config)
        own = [layer.values for layer in merged if not layer.origin.startswith("preset ")]
        keys = {key for each in own for key in each if key not in _NOT_WRITTEN}
        nested: dict[str, Any] = {}
        for name, value in spec.stored.items():
            if isinstance(value, dict):
                part = {each: value[each] for each in value if f"{name}.{each}" in keys}
                nested |= {name: part} if part else {}
            elif name in keys:
                nested[name] = value
        return nested


@dataclass(frozen=True)
class Task:
    """The runs of one configuration on one instance."""

    configuration: Configuration
    name: str
    """Name of the instance."""
    problem: Problem
    spec: RunSpec
    """Settings of the run with the first seed."""


@dataclass(frozen=True)
class Tuning:
    """The plan of a tuning."""

    request: TuneRequest
    problems: Mapping[str, Problem]
    """Problems by absolute names."""
    candidates: Candidates
    runs: int
    """Runs of each configuration on each instance, with consecutive seeds."""
    tasks: tuple[Task, ...]
    """All configurations instance by instance: a machine that slows down affects all of them."""
    backend: Backend

    @cached_property
    def is_timed(self) -> bool:
        """Whether runs have a time limit, which those that share launches share."""
        return any(each.kind == "seconds" for task in self.tasks for each in task.spec.stop)

    @cached_property
    def batched(self) -> bool:
        """Whether the runs of each configuration share launches."""

        def shares(task: Task) -> bool:
            problem = task.problem.adjusted(task.spec.problem)
            return waiting_for(None, task.spec, problem, self.backend) is not None

        return self.runs > 1 and all(map(shares, self.tasks))

    def plan(self) -> Repeats:
        """Return the plan of all runs: if some may not share their time, none does."""
        asked = [(task.spec, task.problem) for task in self.tasks]
        return Repeats(asked, shares=self.batched or not self.is_timed)

    @classmethod
    def of(
        cls,
        request: TuneRequest,
        instances: Sequence[str],
        over: Sequence[str],
        runs: int,
        *,
        configurations: int,
        steps: int | None = None,
        world: World | None = None,
    ) -> Self:
        """Plan the requested tuning; with `steps`, of a grid instead of random configurations.

        Collective: each rank has a device of its own.
        """
        world = world or World()
        request, plan = world.run_on_all(partial(_prepared, request, instances, over, runs))
        general = plan.first[0].spec.general
        backend = take_device(world, general.backend, general.threads or None)
        return world.run_on_all(
            lambda: cls._of(request, plan, over, configurations, steps, backend)
        )

    @classmethod
    def _of(
        cls,
        request: TuneRequest,
        plan: SeriesPlan,
        over: Sequence[str],
        configurations: int,
        steps: int | None,
        backend: Backend,
    ) -> Self:
        # Without the base's settings of the problem, which other configurations need not share.
        problems = {
            job.spec.instance: job.problem.adjusted(job.problem.Settings()) for job in plan.first
        }
        base = plan.first[0]
        if base.spec.colonies:
            raise UsageError(
                "tune: a run with colonies cannot be tuned. Tune the settings of each colony in a"
                " run without colonies"
            )
        specs: dict[str, dict[str, RunSpec]] = {}

        def identify(values: Values) -> str:
            made = {name: request.spec(name, problem, values) for name, problem in problems.items()}
            for name, spec in made.items():
                require_possible(spec, problems[name], backend.block_memory)
                require_block_memory(spec, problems[name], lambda: backend.block_memory)
            specs[words_of(values)] = made
            return json.dumps([spec.to_mapping() for spec in made.values()], sort_keys=True)

        identify({})
        domains = _domains(over, request.options, base)
        if steps is not None:
            candidates = grid(domains, steps, identify)
        else:
            candidates = random(domains, configurations, base.spec.general.seed, identify)
        tasks = [
            Task(each, name, problem, specs[each.words()][name])
            for name, problem in problems.items()
            for each in candidates.configurations
        ]
        return cls(request, problems, candidates, plan.runs, tuple(tasks), backend)


def _prepared(
    request: TuneRequest, instances: Sequence[str], over: Sequence[str], runs: int
) -> tuple[TuneRequest, SeriesPlan]:
    """Return the request, with the algorithm that takes the tuned parts, and the base's runs."""
    plan = _planned(request, instances, runs)
    name = _algorithm_for(over, request, plan.first[0])
    if name is not None:
        request = replace(request, options={**request.options, "algorithm": name})
        plan = _planned(request, instances, runs)
    return request, plan


def _planned(request: TuneRequest, instances: Sequence[str], runs: int) -> SeriesPlan:
    return SeriesPlan.of(instances, runs, request.options, request.config)


def _algorithm_for(over: Sequence[str], request: TuneRequest, base: PlannedRun) -> str | None:
    """Return the algorithm that takes the tuned parts, if the default one does not."""
    given, spec = gathered(of_table(request.options)), base.spec
    if request.config is not None or {"algorithm", "preset"} & set(given):
        return None
    tuned = [text.partition("=")[0].strip() for text in over]
    if "algorithm" in tuned:
        return None
    parts = {"encoding": given.get("encoding"), "improver.name": spec.improver.name}
    name = stand_in([spec.algorithm], dict.fromkeys(tuned) | parts, base.problem)
    return None if name == spec.algorithm else name


def _domains(over: Sequence[str], options: Mapping[str, Any], base: PlannedRun) -> list[Domain]:
    """Return the domains of the tuned settings, in an order that does not depend on `over`."""
    owners = _owners(base.spec, base.problem)
    for text in over:
        (key,) = layers({text.partition("=")[0].strip(): None})[-1].values
        if key not in owners and owners_of(key, base.problem):
            kinds = [ALGORITHMS[base.spec.algorithm]]
            raise UsageError(f"--over {text}: {unknown_setting(kinds, key, base.problem)}")
    named = {text: domain(text, owners) for text in over}
    given = gathered(of_table(options))
    for text, each in named.items():
        if each.key in given:
            own = f"{each.key}={given[each.key]}"
            fix = ", or set the value of configuration 0 in a file for --config"
            raise twice(each.key, own, f"--over {text}", fix)
    domains = sorted(named.values(), key=lambda each: each.key)
    if not domains:
        known = ", ".join(owners)
        raise UsageError(f"no settings to tune. Name some with --over KEY=A..B: {known}")
    require_distinct(domains)
    return domains


def _owners(spec: RunSpec, problem: Problem) -> dict[str, Owner]:
    """Return the groups of all settings of a run by full name."""
    own: list[type[Settings]] = [ALGORITHMS[spec.algorithm].Settings, problem.Settings]
    owners = {name: Owner(group, "", name) for group in own for name in group.names()}
    general = [name for name in GeneralSettings.names() if name not in _NOT_TUNED]
    owners |= {name: Owner(GeneralSettings, "", name) for name in general}
    for prefix, group in GROUPS.items():
        owners |= {f"{prefix}.{name}": Owner(group, prefix, name) for name in group.names()}
    return owners


@dataclass(frozen=True)
class TaskResult:
    """The results of the runs in the order of their seeds."""

    costs: tuple[float | None, ...]
    """Costs as the instance defines them; None for a run without a feasible solution."""
    evaluations: tuple[int, ...]
    reached: tuple[bool, ...]
    """Whether each run met one of its quality criteria."""
    generations: float
    """Mean generations of a run."""
    seconds: float
    """Mean seconds of a run."""

    @classmethod
    def read(cls, made: Made) -> Self:
        """Return the results that a ledger has."""
        costs, evaluations, reached = (
            tuple(made[name]) for name in ("costs", "evaluations", "reached")
        )
        return cls(costs, evaluations, reached, made["generations"], made["seconds"])


def quality_criteria(spec: RunSpec) -> list[Criterion]:
    """Return the stop criteria that depend on the cost."""
    return [criterion for criterion in spec.stop if criterion.kind in _QUALITY_KINDS]


def _progress(result: Result, problem: Problem) -> Progress:
    """Return the progress at the end of a run, as criteria read it."""
    return Progress(
        generation=result.generations,
        evaluations=result.evaluations,
        seconds=result.seconds,
        cost=result.cost,
        island=result.island,
        best_generation=result.best_generation,
        mean=0.0,
        gap=result.gap,
        best_known=result.best_known,
        maximise=problem.maximise,
        tolerance=problem.scale.tolerance,
    )


def asked_of(task: Task, tuning: Tuning) -> Asked:
    """Return what the results of a task depend on.

    Whether runs share launches matters only if they have a time limit, which they then share.
    """
    settings = {name: each for name, each in task.spec.to_mapping().items() if name not in _OWN}
    if tuning.batched and any(each.kind == "seconds" for each in task.spec.stop):
        settings["shares_seconds"] = True
    return {"runs": tuning.runs, "settings": settings}


def made_of(task: Task, repeats: Sequence[Repeat]) -> Made:
    """Return what the ledger keeps of the runs of a task."""
    results, seconds = [each.result for each in repeats], seconds_of(repeats)
    aims = quality_criteria(task.spec)
    ends = [_progress(each, task.problem) for each in results]
    found = TaskResult(
        costs=tuple(each.cost for each in results),
        evaluations=tuple(each.evaluations for each in results),
        reached=tuple(any(aim.met(end) for aim in aims) for end in ends),
        generations=fmean(each.generations for each in results),
        seconds=seconds / len(results),
    )
    return {
        "instance": task.problem.instance,
        "configuration": task.configuration.number,
        "values": task.configuration.values,
        **asdict(found),
        "elapsed": seconds + max(each.compile_seconds for each in results),
        "backend": results[0].backend,
        "device": results[0].device,
    }


def row_of(asked: Asked, made: Made) -> Row:
    """Return the row of `tune.tsv`; lists have one number per run, in the order of the seeds."""
    costs = (_NONE if cost is None else str(cost) for cost in made["costs"])
    cells = {
        **made,
        "values": json.dumps(made["values"]),
        "runs": asked["runs"],
        "costs": " ".join(costs),
        "evaluations": " ".join(map(str, made["evaluations"])),
        "reached": " ".join(str(int(each)) for each in made["reached"]),
        "settings": json.dumps(asked["settings"], sort_keys=True),
    }
    return {name: str(cells[name]) for name in COLUMNS}


def earlier_rows(path: Path) -> Iterator[tuple[Asked, Made, float]]:
    """Yield the results in a `tune.tsv` of an earlier version, which had no ledger."""
    for row in read_table(path, COLUMNS, "a tuning", added=_ADDED):
        costs, evaluations, reached = (
            row[name].split() for name in ("costs", "evaluations", "reached")
        )
        made = {
            **row,
            "configuration": int(row["configuration"]),
            "values": json.loads(row["values"]),
            "costs": [None if cost == _NONE else _number(cost) for cost in costs],
            "evaluations": [int(each) for each in evaluations],
            "reached": [bool(int(each)) for each in reached],
            "generations": float(row["generations"]),
            "seconds": float(row["seconds"]),
            "elapsed": _number(row["elapsed"]),
        }
        asked = {"runs": int(made.pop("runs")), "settings": json.loads(made.pop("settings"))}
        yield asked, made, made["elapsed"]


def _number(text: str) -> float:
    """Return a cost from its text: an integer, or a number with decimals."""
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else float(exact)
