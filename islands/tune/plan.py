"""Plan a tuning: configurations, instances and seeds, checked before the first run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from islands.algorithms import ALGORITHMS
from islands.backends.base import Backend
from islands.campaign.series import PlannedRun, SeriesPlan
from islands.configuration.defaults import stand_in
from islands.configuration.fit import require_block_memory, require_possible
from islands.configuration.given import gathered, of_table, twice
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import GROUPS, GeneralSettings, RunSpec
from islands.custom.trust import NO_TRUST, Trust
from islands.errors import UsageError
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.build import take_device
from islands.settings import Settings
from islands.tune.configurations import Candidates, Configuration, Values, grid, random, words_of
from islands.tune.domain import Domain, Owner, domain, require_distinct
from islands.tune.runs import can_batch

_NOT_TUNED = ("seed", "backend", "threads", "bound")
"""General settings that cannot be tuned."""
_NOT_WRITTEN = ("instance", *_NOT_TUNED)
"""Options that are not written with a configuration."""


@dataclass(frozen=True)
class TuneRequest:
    """The options that all configurations share, as given on the command line."""

    options: Mapping[str, Any]
    config: Path | None = None
    trust: Trust = NO_TRUST
    """The scripts that the configuration file may name."""

    def spec(self, name: str, problem: Problem, values: Values) -> RunSpec:
        """Return the settings of a configuration on an instance, with the first seed."""
        merged = layers({**self.options, **values, "instance": name}, self.config, self.trust)
        return resolve(merged, problem)

    def settings(self, values: Values, spec: RunSpec) -> dict[str, Any]:
        """Return the requested options of a configuration in the form of `islands run --config`.

        `spec`, on any instance, gives the types of the values. Other settings are left out, as
        their defaults may depend on the instance.
        """
        merged = layers({**self.options, **values}, self.config, self.trust)
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
    def batched(self) -> bool:
        """Whether runs form batches: all or none, as the runs of a batch share their seconds."""
        return all(can_batch(task.spec, self.runs) for task in self.tasks)

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
    ) -> Self:
        """Plan the requested tuning; with `steps`, of a grid instead of random configurations."""
        plan = _planned(request, instances, runs)
        name = _algorithm_for(over, request, plan.first[0])
        if name is not None:
            request = replace(request, options={**request.options, "algorithm": name})
            plan = _planned(request, instances, runs)
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
        general = base.spec.general
        backend = take_device(World(), general.backend, general.threads or None)
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
            candidates = random(domains, configurations, general.seed, identify)
        tasks = [
            Task(each, name, problem, specs[each.words()][name])
            for name, problem in problems.items()
            for each in candidates.configurations
        ]
        return cls(request, problems, candidates, runs, tuple(tasks), backend)


def _planned(request: TuneRequest, instances: Sequence[str], runs: int) -> SeriesPlan:
    return SeriesPlan.of(instances, runs, request.options, request.config, request.trust)


def _algorithm_for(over: Sequence[str], request: TuneRequest, base: PlannedRun) -> str | None:
    """Return the algorithm that has the tuned settings, if the default one does not."""
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
