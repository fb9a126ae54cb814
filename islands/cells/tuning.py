"""The plan of a tuning: its configurations, instances and seeds, and the results of its runs.

The settings identify a row of `tune.tsv`, so no configuration runs twice, even if other
configurations or instances are tuned in the same folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Self

from islands.algorithms import ALGORITHMS
from islands.cells.configurations import Candidates, Configuration, Values, grid, random
from islands.cells.domains import NOT_TUNED, Domain, domain, full_name, tunable
from islands.cells.store import DEVICE_SETTINGS, Key, StoredResult, file_sha256
from islands.configuration.choosing import default_algorithm
from islands.configuration.fit import (
    owners,
    require_possible,
    require_shared_memory,
    unknown_setting,
)
from islands.configuration.given import twice
from islands.configuration.identity import identity
from islands.configuration.request import Request
from islands.configuration.resolve import absolute, resolve
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.configuration.stop import Criterion, time_limit
from islands.custom.scripts import is_reference, split_reference
from islands.engine.build import shared_memory
from islands.engine.loading import load_instance
from islands.engine.repeats import Repeat, seconds_of
from islands.errors import UsageError
from islands.parallel import launched
from islands.problems.base import Problem
from islands.progress.standings import BestCost
from islands.record.files import Row
from islands.settings import flat
from islands.text import one_line

_NOT_WRITTEN = ("instance", *NOT_TUNED)
"""Options that are not written with a configuration."""
COLUMNS = (
    *("instance", "configuration", "values", "runs", "costs", "evaluations", "reached"),
    *("generations", "seconds", "elapsed", "backend", "device", "settings"),
)
"""The columns of `tune.tsv`: `seconds` is the mean search time of a run, and `elapsed` the time of
all runs together, including compilation."""


@dataclass(frozen=True)
class Base(Request):
    """The request that all configurations extend."""

    def resolved(self, problem: Problem, name: str, values: Values) -> Resolved:
        """Return the run of a configuration on an instance, with the first seed."""
        request = self.also({**values, "instance": name})
        if launched()[1] == 1 or "sized_for_gpus" in request.values:
            return resolve(request, problem)
        # A run is performed by one rank, so it has the defaults for one rank.
        resolved = resolve(request.also({"sized_for_gpus": 1}), problem)
        general = resolved.spec.general.replace({"sized_for_gpus": 0})
        return replace(resolved, spec=replace(resolved.spec, general=general))

    def to_mapping(self, values: Values, spec: RunSpec) -> dict[str, Any]:
        """Return the requested options of a configuration in the format of `islands run --config`.

        `spec`, of any instance, gives the types of the values. Other settings are left out, as
        their defaults may depend on the instance.
        """
        sources = [s for s in self.also(values).sources if not s.origin.startswith("preset ")]
        keys = {key for source in sources for key in source.values if key not in _NOT_WRITTEN}
        nested: dict[str, Any] = {}
        for full, value in flat(spec.stored).items():
            group, _, name = full.rpartition(".")
            if full in keys:
                (nested.setdefault(group, {}) if group else nested)[name] = value
        return nested

    def with_algorithm_for(self, tuned: Sequence[str], spec: RunSpec, problem: Problem) -> Base:
        """Return the request with an algorithm that has the tuned parts, unless it names one."""
        is_chosen = {"algorithm", "preset"} & {*self.options} or "algorithm" in tuned
        if self.config is not None or is_chosen:
            return self
        parts = {"encoding": self.options.get("encoding"), "improver.name": spec.improver.name}
        name = default_algorithm([spec.algorithm], dict.fromkeys(tuned) | parts, problem)
        return self if name == spec.algorithm else self.also({"algorithm": name})


@dataclass(frozen=True)
class TuningTask(Resolved):
    """The runs of one configuration on one instance; the settings are those of the first seed."""

    configuration: Configuration

    @property
    def key(self) -> tuple[int, str]:
        """The number of the configuration and the absolute name of the instance."""
        return self.configuration.number, self.spec.instance

    def words(self) -> str:
        """Return the configuration and the instance."""
        return f"configuration {self.configuration.number}, {one_line(self.problem.instance)}"

    @property
    def time_limit(self) -> float:
        """The maximum seconds of a run; infinite if there is none."""
        return time_limit(self.spec.stop)

    @property
    def targets(self) -> list[Criterion]:
        """The criteria on the cost."""
        return [criterion for criterion in self.spec.stop if criterion.is_target]

    def store_key(self, runs: int, *, share: bool) -> Key:
        """Return the key of the results in the store, which determines them.

        Shared launches only affect results under a time limit, which the runs then share.
        """
        stored = self.spec.to_mapping().items()
        settings = {name: value for name, value in stored if name not in DEVICE_SETTINGS}
        if share and math.isfinite(self.time_limit):
            settings["shares_seconds"] = True
        # The identity changes with the content of the files of the instance and of headers, but
        # not with costs in Python.
        key = {"runs": runs, "settings": settings, "identity": identity(self)}
        if is_reference(self.spec.instance):
            key["script"] = file_sha256(split_reference(self.spec.instance)[0])
        return key


@dataclass(frozen=True)
class TaskResult:
    """The results of the runs of a task, as they are stored."""

    instance: str
    configuration: int
    """Its number in the command that performed the runs."""
    values: Values
    costs: Sequence[float | None]
    """Costs as the instance defines them, in the order of the seeds, like the next two fields; None
    for a run without a feasible solution."""
    evaluations: Sequence[int]
    reached: Sequence[bool]
    """Whether each run met one of its criteria on the cost."""
    generations: float
    """Mean generations of a run."""
    seconds: float
    """Mean seconds of a run."""
    elapsed: float
    """Seconds of all runs, including compilation."""
    backend: str
    device: str

    @classmethod
    def of(cls, task: TuningTask, repeats: Sequence[Repeat]) -> Self:
        """Return the results of all runs of a task."""
        results, seconds = [repeat.result for repeat in repeats], seconds_of(repeats)
        costs = [run.cost for run in results]
        ends = [BestCost(task.problem, cost) for cost in costs]
        return cls(
            instance=task.problem.instance,
            configuration=task.configuration.number,
            values=task.configuration.values,
            costs=costs,
            evaluations=[run.evaluations for run in results],
            reached=[any(target.reached_by(end) for target in task.targets) for end in ends],
            generations=fmean(run.generations for run in results),
            seconds=seconds / len(results),
            elapsed=seconds + max(run.compile_seconds for run in results),
            backend=results[0].backend,
            device=results[0].device,
        )


def row_of(key: Key, stored: StoredResult) -> Row:
    """Return the row of `tune.tsv`; lists have one number per run, in the order of the seeds."""
    return {name: _text({**key, **stored}[name]) for name in COLUMNS}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return "-" if value is None else str(int(value) if isinstance(value, bool) else value)


@dataclass(frozen=True)
class Tuning:
    """The plan of a tuning."""

    base: Base
    problems: Mapping[str, Problem]
    """Problems by absolute names."""
    candidates: Candidates
    runs: int
    """Runs of each configuration on each instance, with consecutive seeds."""
    metric: str

    @classmethod
    def of(
        cls,
        base: Base,
        instances: Sequence[str],
        over: Sequence[str],
        *,
        runs: int,
        configurations: int,
        steps: int | None,
        metric: str,
    ) -> Self:
        """Plan a tuning of random configurations or, with `steps`, of a grid.

        Wrong settings are rejected before the first run.
        """
        problems = _problems(base, instances)
        name, first = next(iter(problems.items()))
        spec = base.resolved(first, name, {}).spec
        base = base.with_algorithm_for([*map(full_name, over)], spec, first)
        spec = base.resolved(first, name, {}).spec
        _require_tunable(spec, runs, len(problems))
        memory = shared_memory(spec.general.backend)

        def resolved(values: Values) -> tuple[Resolved, ...]:
            runs = tuple(base.resolved(problem, name, values) for name, problem in problems.items())
            for run in runs:
                require_possible(run, memory)
                require_shared_memory(run, lambda: memory)
            return runs

        domains = _domains(over, base, spec, first)
        if steps is not None:
            candidates = grid(domains, steps, resolved)
        else:
            candidates = random(domains, configurations, spec.general.seed, resolved)
        tuning = cls(base, problems, candidates, runs, metric)
        if metric == "evaluations" and not all(task.targets for task in tuning.tasks):
            raise UsageError(
                "--metric evaluations: counts the evaluations until a target is reached. Set the"
                " target with --stop best-known, target=VALUE or gap=PERCENT"
            )
        return tuning

    @property
    def tasks(self) -> list[TuningTask]:
        """All tasks, instance by instance, so that slowdowns affect all configurations alike."""
        return [
            TuningTask(**vars(configuration.settings[place]), configuration=configuration)
            for place in range(len(self.problems))
            for configuration in self.candidates.configurations
        ]


def _problems(base: Base, instances: Sequence[str]) -> dict[str, Problem]:
    """Return the problems by absolute names; reject one that is named twice."""
    problems: dict[str, Problem] = {}
    for request in [base.also({"instance": name}) for name in instances] or [base]:
        problem = load_instance(request)
        if any(problem.instance == other.instance for other in problems.values()):
            raise UsageError(f"{problem.instance} is named twice. Specify each instance once")
        problems[absolute(request.instance)] = problem
    return problems


def _require_tunable(spec: RunSpec, runs: int, instances: int) -> None:
    """Reject settings that cannot be tuned."""
    if spec.colonies:
        raise UsageError(
            "tune: a run with colonies cannot be tuned. Tune the settings of each colony in a"
            " run without colonies"
        )
    if spec.start and instances > 1:
        raise UsageError(
            "start with several instances: a solution belongs to one instance. Leave it out of"
            " --config, or specify one instance"
        )
    spec.general.later(runs - 1)  # rejects a seed that is too large


def _domains(over: Sequence[str], base: Base, spec: RunSpec, problem: Problem) -> list[Domain]:
    """Return the domains of the tuned settings, in an order that does not depend on `over`."""
    groups = tunable(spec.algorithm, problem)
    domains: dict[str, Domain] = {}
    for text in over:
        key = full_name(text)
        if key not in groups and owners(key, problem):
            kinds = [ALGORITHMS[spec.algorithm]]
            raise UsageError(f"--over {text}: {unknown_setting(kinds, key, problem)}")
        if key in base.options:
            fix = ", or set the value of configuration 0 in a file for --config"
            raise twice(key, f"{key}={base.options[key]}", f"--over {text}", fix)
        if key in domains:
            raise UsageError(f"--over {key} is given twice. Give each setting once")
        domains[key] = domain(text, groups)
    if not domains:
        known = ", ".join(groups)
        raise UsageError(f"no settings to tune. Specify some with --over KEY=A..B: {known}")
    return [domains[key] for key in sorted(domains)]
