"""What is tuned: configurations, instances and seeds, with all refused that can be before a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from islands.algorithms import ALGORITHMS
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.device import take_device
from islands.series.plan import Job, Plan
from islands.settings import Settings
from islands.spec.given import gathered, of_table, twice
from islands.spec.own import lasting
from islands.spec.resolve import layers, resolve
from islands.spec.spec import GROUPS, GeneralSettings, RunSpec
from islands.tune.cell import goes_beside
from islands.tune.configurations import Configuration, Search, Values, grid, random, words_of
from islands.tune.domain import Domain, Owner, domain, require_distinct
from islands.tune.possible import require_possible

_NO_MATTER = ("seed", "backend", "threads")
"""General settings that make no configuration better than another."""
_OWN = ("instance", *_NO_MATTER)
"""What is not part of a configuration where it is written down."""


@dataclass(frozen=True)
class Asked:
    """What the configurations have in common, as the command line gives it."""

    options: Mapping[str, Any]
    config: Path | None = None

    def spec(self, name: str, problem: Problem, values: Values) -> RunSpec:
        """Return the run of a configuration on an instance, by its name, with the first seed."""
        asked = layers({**self.options, **values, "instance": name}, self.config)
        return resolve(asked, problem)

    def settings(self, values: Values, spec: RunSpec) -> dict[str, Any]:
        """Return what was asked for of a configuration, as `islands run --config` takes it.

        Its `spec` on any instance says what kind of values they are. What was not asked for may be
        another on another instance.
        """
        asked = layers({**self.options, **values}, self.config)
        own = [layer.values for layer in asked if not layer.origin.startswith("preset ")]
        keys = {key for each in own for key in each if key not in _OWN}
        nested: dict[str, Any] = {}
        for name, value in lasting(spec.to_mapping()).items():
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
    """Of the instance."""
    problem: Problem
    spec: RunSpec
    """Of the run with the first seed."""


@dataclass(frozen=True)
class Tuning:
    """All that is to be run."""

    asked: Asked
    problems: Mapping[str, Problem]
    """By names that last, as those of their runs."""
    search: Search
    runs: int
    """Of each configuration on each instance, with seeds one after the other."""
    tasks: tuple[Task, ...]
    """All configurations for each instance in turn: a machine that slows down does so for all."""
    backend: Backend

    @cached_property
    def beside(self) -> bool:
        """Whether runs go side by side: all or none, as those that do so share their seconds."""
        return all(goes_beside(task.spec, self.runs) for task in self.tasks)

    @classmethod
    def of(
        cls,
        asked: Asked,
        instances: Sequence[str],
        over: Sequence[str],
        runs: int,
        *,
        configurations: int,
        steps: int | None = None,
    ) -> Self:
        """Resolve what was asked for; with `steps`, of a grid instead of random configurations."""
        plan = Plan.of(instances, runs, asked.options, asked.config)
        # Without the settings of the base, which other configurations need not have.
        problems = {
            job.spec.instance: job.problem.adjusted(job.problem.Settings()) for job in plan.first
        }
        base = plan.first[0]
        general = base.spec.general
        backend = take_device(World(), general.backend, general.threads or None)
        specs: dict[str, dict[str, RunSpec]] = {}

        def identify(values: Values) -> str:
            made = {name: asked.spec(name, problem, values) for name, problem in problems.items()}
            for name, spec in made.items():
                require_possible(spec, problems[name], backend)
            specs[words_of(values)] = made
            return json.dumps([spec.to_mapping() for spec in made.values()], sort_keys=True)

        identify({})
        domains = _domains(over, asked.options, base)
        if steps is not None:
            search = grid(domains, steps, identify)
        else:
            search = random(domains, configurations, general.seed, identify)
        tasks = [
            Task(each, name, problem, specs[each.words()][name])
            for name, problem in problems.items()
            for each in search.configurations
        ]
        return cls(asked, problems, search, runs, tuple(tasks), backend)


def _domains(over: Sequence[str], options: Mapping[str, Any], base: Job) -> list[Domain]:
    """Return what settings are to be tuned; in which order they were named makes no difference."""
    owners = _owners(base.spec, base.problem)
    named = {text: domain(text, owners) for text in over}
    given = gathered(of_table(options))
    for text, each in named.items():
        if each.key in given:
            own = f"{each.key}={given[each.key]}"
            fix = "; that of configuration 0 may stand in a file that --config names"
            raise twice(each.key, own, f"--over {text}", fix)
    domains = sorted(named.values(), key=lambda each: each.key)
    if not domains:
        known = ", ".join(owners)
        raise UsageError(f"nothing to tune. Name settings with --over KEY=A..B: {known}")
    require_distinct(domains)
    return domains


def _owners(spec: RunSpec, problem: Problem) -> dict[str, Owner]:
    """Return the groups of all settings of a run, by their full names."""
    own: list[type[Settings]] = [ALGORITHMS[spec.algorithm].Settings, problem.Settings]
    owners = {name: Owner(group, "", name) for group in own for name in group.names()}
    general = [name for name in GeneralSettings.names() if name not in _NO_MATTER]
    owners |= {name: Owner(GeneralSettings, "", name) for name in general}
    for prefix, group in GROUPS.items():
        owners |= {f"{prefix}.{name}": Owner(group, prefix, name) for name in group.names()}
    return owners
