"""The complete settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import islands
from islands.archipelago.colonies import MOST_INDIVIDUALS, MOST_ISLANDS, ColonySpec, islands_of_each
from islands.backends.cpu import MOST_THREADS
from islands.configuration.given import with_references
from islands.configuration.stop import CONVERGED, Criterion, last_generation
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings, migrates
from islands.problems.base import Solution
from islands.progress.visits import Visits
from islands.settings import Settings, changed, setting

_LAST_SEED = 2**63 - 1
_CONVERGED_EVERY = 5
"""The number of generations between two checks for convergence."""

SIGN = "# The settings of a run of islands"
"""The beginning of `run.toml`, which identifies the folder of a run."""
FORMAT = 8
"""The version of the file formats in a run's folder, raised with each incompatible change."""


@dataclass(frozen=True)
class GeneralSettings(Settings):
    """The settings of runs with any algorithm."""

    islands: int = setting(8, "total number of islands, over all ranks", low=1, high=MOST_ISLANDS)
    population: int = setting(256, "individuals per island", low=2, high=MOST_INDIVIDUALS)
    seed: int = setting(1, "random seed; the same seed repeats the run", low=0, high=_LAST_SEED)
    backend: str = setting(
        "auto",
        "device that runs the kernels; auto: a GPU if there is one, otherwise the CPU",
        choices=("auto", "cpu", "cuda"),
    )
    sized_for_gpus: int = setting(
        0,
        "number of GPUs for which defaults are chosen; 0: one for each rank that has one",
        low=0,
        high=1 << 16,
    )
    decoding: str = setting(
        "",
        "how keys become solutions: a block sorts them (sorted), one thread sorts them (plain), or"
        " the host decodes and evaluates with NumPy (host); empty: the algorithm's default",
        choices=("", "sorted", "plain", "host"),
    )
    threads: int = setting(0, "threads of the cpu backend; 0: all cores", low=0, high=MOST_THREADS)
    bound: bool = setting(False, "whether a bound on the optimum is computed after the search")

    def later(self, runs: int) -> Self:
        """Return the settings with the seed increased by `runs`."""
        if self.seed + runs > _LAST_SEED:
            raise UsageError(
                f"seed={self.seed}: the last of {runs + 1} runs would have the seed"
                f" {self.seed + runs}, and {_LAST_SEED} is the largest. Choose a smaller seed"
            )
        return self.replace({"seed": self.seed + runs})


@dataclass(frozen=True)
class RecordSettings(Settings):
    """How often the progress of a run is recorded."""

    every: int = setting(50, "maximum number of generations between two rows of the trace", low=1)
    migrations: bool = setting(True, "whether to record a row for each migrant that arrives")


@dataclass(frozen=True)
class CheckpointSettings(Settings):
    """How often a run writes a checkpoint, from which it can be resumed."""

    every: float = setting(
        60.0,
        "seconds between checkpoints; 0: only after a signal and at the end",
        low=0,
        is_time=True,
    )


GROUPS: dict[str, type[Settings]] = {
    "improver": ImproverSettings,
    "migration": MigrationSettings,
    "record": RecordSettings,
    "checkpoint": CheckpointSettings,
}
"""The groups of settings with dotted names, such as `migration.interval`, which are TOML tables."""


@dataclass(frozen=True)
class RunSpec:
    """All settings of a run: of the algorithm (`settings`), the problem (`problem`) and the run."""

    instance: str
    format: str | None
    """The format of the instance file; None to detect it."""
    preset: str | None
    algorithm: str
    encoding: str
    stop: tuple[Criterion, ...]
    start: tuple[str, ...]
    general: GeneralSettings
    settings: Settings
    problem: Settings
    improver: ImproverSettings
    migration: MigrationSettings
    record: RecordSettings
    checkpoint: CheckpointSettings
    adjusted: str = field(default="", compare=False)
    """The message about parts and settings that were chosen or changed automatically."""
    colonies: tuple[ColonySpec, ...] = ()
    """The colonies, if islands differ. The algorithm, the encoding and the settings of islands are
    then those of the first colony."""
    given: tuple[Solution, ...] = field(default=(), compare=False)
    """Start solutions from a script, which are not stored."""

    def as_colony(self) -> ColonySpec:
        """Return the islands of a run without colonies as one colony."""
        return ColonySpec(
            islands=self.general.islands,
            population=self.general.population,
            algorithm=self.algorithm,
            encoding=self.encoding,
            settings=self.settings,
            improver=self.improver,
            decoding=self.general.decoding,
        )

    @cached_property
    def all_colonies(self) -> tuple[ColonySpec, ...]:
        """The colonies; a run without colonies counts as one colony."""
        return self.colonies or (self.as_colony(),)

    def starts(self) -> list[int]:
        """Return the first island of each colony."""
        return [islands.start for islands in islands_of_each(self.all_colonies)]

    def individuals(self, islands: range | None = None) -> int:
        """Return the number of individuals on these islands, by default on all."""
        islands = range(self.general.islands) if islands is None else islands
        colonies = self.all_colonies
        common = [
            range(max(held.start, islands.start), min(held.stop, islands.stop))
            for held in islands_of_each(colonies)
        ]
        return sum(
            len(shared) * colony.population for shared, colony in zip(common, colonies, strict=True)
        )

    @property
    def migrates(self) -> bool:
        """Whether islands exchange migrants."""
        return migrates(self.migration, self.general.islands)

    @property
    def visits(self) -> Visits:
        """The generations that the host visits, which depend on settings only, not on time."""
        every = self.record.every
        if any(criterion.kind == CONVERGED for criterion in self.stop):
            every = min(every, _CONVERGED_EVERY)
        interval = self.migration.interval if self.migrates else None
        return Visits(interval, every, last_generation(self.stop))

    @property
    def mean_population(self) -> float:
        """The mean number of individuals per island."""
        if not self.colonies:
            return self.general.population
        return self.individuals() / self.general.islands

    def words(self, name: str) -> str:
        """Return the `algorithm` or the `encoding`; with colonies, all distinct values."""
        return " + ".join(dict.fromkeys(getattr(colony, name) for colony in self.all_colonies))

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings by name, with a nested mapping for each group."""
        names = {"instance": self.instance, "format": self.format, "preset": self.preset}
        names |= {"algorithm": self.algorithm, "encoding": self.encoding}
        lists = {"stop": [criterion.text for criterion in self.stop], "start": list(self.start)}
        values = asdict(replace(self, given=()))
        groups = {name: values[name] for name in GROUPS}
        if self.colonies:
            del names["algorithm"], names["encoding"], groups["improver"]
            del values["general"]["population"], values["general"]["decoding"]
            bare = values["general"] | values["problem"]
            bare |= {"colony": [_table(colony) for colony in values["colonies"]]}
        else:
            bare = values["general"] | values["settings"] | values["problem"]
        mapping = names | lists | bare | groups
        return {name: value for name, value in mapping.items() if value is not None}

    @cached_property
    def stored(self) -> Mapping[str, Any]:
        """The settings as stored in a folder, with references FILE.py:NAME to parts in scripts."""
        return with_references(self.to_mapping())

    def of(self, instance: str, seed: int) -> RunSpec:
        """Return the settings for another instance and seed."""
        general = self.general
        if seed != general.seed:
            general = general.replace({"seed": seed})
        # Collecting all settings takes longer than the search of a small instance on a GPU.
        stored = {**self.stored, "instance": instance, "seed": seed}
        return changed(self, instance=instance, general=general, stored=stored)

    def to_toml(self) -> str:
        """Return the text of `run.toml`, which `islands run --config` accepts."""
        import tomli_w

        first = f"{SIGN} {islands.__version__}, format {FORMAT}: --config repeats it."
        return f"{first}\n{tomli_w.dumps(self.stored)}"


def _table(colony: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a colony as a TOML table."""
    settings, improver = colony.pop("settings"), colony.pop("improver")
    del colony["limited"]  # derived from the stopping criteria
    return {**colony, **settings, "improver": improver}
