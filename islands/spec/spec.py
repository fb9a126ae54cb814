"""Everything that a run needs, resolved: running the same `RunSpec` again repeats the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import islands
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.settings import Settings, setting
from islands.spec.own import lasting
from islands.spec.stop import Criterion

_LAST_SEED = 2**63 - 1

SIGN = "# The settings of a run of islands"
"""What the text of `run.toml` begins with, by which a run's folder is known."""
FORMAT = 4
"""Raised whenever the files of a run's folder come to mean something else."""


@dataclass(frozen=True)
class GeneralSettings(Settings):
    """The settings of every run, whatever its algorithm."""

    islands: int = setting(8, "islands in the whole run, over all ranks", low=1)
    population: int = setting(256, "individuals an island", low=2)
    seed: int = setting(1, "the same seed repeats the run", low=0, high=_LAST_SEED)
    backend: str = setting("auto", "where kernels run", choices=("auto", "cpu", "cuda"))
    decoding: str = setting(
        "",
        "who decodes and judges: a block from sorted or plain keys, or the host by NumPy; empty: as"
        " is usual for the algorithm",
        choices=("", "sorted", "plain", "host"),
    )
    threads: int = setting(0, "threads of the cpu backend; 0 takes every core", low=0)

    def later(self, runs: int) -> Self:
        """Return the settings of the run that comes so many seeds later."""
        if self.seed + runs > _LAST_SEED:
            raise UsageError(
                f"seed={self.seed}: the last of {runs + 1} runs would have the seed"
                f" {self.seed + runs}, and {_LAST_SEED} is the largest. Choose a smaller seed"
            )
        return self.replace({"seed": self.seed + runs})


@dataclass(frozen=True)
class RecordSettings(Settings):
    """How often a run is looked at from the host."""

    every: int = setting(50, "generations from one row of the trace to the next, at most", low=1)
    migrations: bool = setting(True, "whether each arrival of a migrant is a row of the record")


@dataclass(frozen=True)
class CheckpointSettings(Settings):
    """How often a run is kept, so that it can go on after its end."""

    every: float = setting(
        60.0, "seconds between checkpoints; 0: at signals and the end", low=0, is_time=True
    )


GROUPS: dict[str, type[Settings]] = {
    "improver": ImproverSettings,
    "migration": MigrationSettings,
    "record": RecordSettings,
    "checkpoint": CheckpointSettings,
}
"""The settings with a dotted name, such as `migration.interval`; each group is a table in TOML."""


@dataclass(frozen=True)
class RunSpec:
    """A run in full. `settings` are those of the algorithm, `problem` those of the problem."""

    instance: str
    format: str | None
    """How the instance's file is written; None leaves it to be recognised."""
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
    """The line that says what was chosen to fit the improver; no setting."""

    def to_mapping(self) -> dict[str, Any]:
        """Return the run as a mapping of names to values, with the groups as mappings in it."""
        names = {"instance": self.instance, "format": self.format, "preset": self.preset}
        names |= {"algorithm": self.algorithm, "encoding": self.encoding}
        lists = {"stop": [criterion.text for criterion in self.stop], "start": list(self.start)}
        groups = {name: getattr(self, name).to_mapping() for name in GROUPS}
        bare: dict[str, Any] = {}
        for settings in (self.general, self.settings, self.problem):
            bare |= settings.to_mapping()
        whole = names | lists | bare | groups
        return {name: value for name, value in whole.items() if value is not None}

    def to_toml(self) -> str:
        """Return the text of `run.toml`, which `islands run --config` takes."""
        import tomli_w

        first = f"{SIGN} {islands.__version__}, format {FORMAT}: --config repeats it."
        return f"{first}\n{tomli_w.dumps(lasting(self.to_mapping()))}"
