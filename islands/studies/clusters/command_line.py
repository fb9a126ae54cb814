"""The options of a run as words of a command line, of which a job interprets a few."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_OF_RESUME = ("--backend", "--threads")
_FLAGS_OF_RESUME = ("--quiet", "--json", "--debug", "--share-gpu", "--trust")


@dataclass(frozen=True)
class JobFacts:
    """The properties of a run that its job depends on."""

    on_cpu: bool
    """Whether it uses the CPU backend."""
    runs: tuple[str, ...] = ()
    """The folders of the runs of a series; empty for a single run."""

    def places(self, folder: Path) -> list[Path]:
        """Return the folder of each run; `folder` is that of the run or the series."""
        return [folder / name for name in self.runs] or [folder]


Check = Callable[[Sequence[str]], JobFacts]
"""Rejects invalid words of `islands run` or `resume`, and returns the facts about the run."""


class CommandWords:
    """The words of a command line, in the forms `--name value` and `--name=value`."""

    def __init__(self, words: Sequence[str]) -> None:
        self.all = tuple(words)

    def values(self, name: str) -> list[str]:
        """Return all values of an option."""
        values: list[str] = []
        for place, word in enumerate(self.all):
            if word == name:
                values += self.all[place + 1 : place + 2]
            elif word.startswith(f"{name}="):
                values.append(word.partition("=")[2])
        return values

    def value(self, name: str) -> str | None:
        """Return the last value of an option, or None."""
        return next(reversed(self.values(name)), None)

    def has(self, flag: str) -> bool:
        """Return whether an option without a value is given, such as `--force`."""
        return flag in self.all

    @property
    def resumes(self) -> bool:
        """Whether the words are `resume DIR ...`, and not the options of a new run."""
        return self.all[:1] == ("resume",)

    @property
    def folder(self) -> Path | None:
        """The folder that `--out` or `resume` names."""
        out = self.all[1] if self.resumes and len(self.all) > 1 else self.value("--out")
        return Path(out) if out else None

    def without(self, name: str) -> list[str]:
        """Return the words without an option and its value."""
        words = iter(self.all)
        kept: list[str] = []
        for word in words:
            if word == name:
                next(words, None)
            elif not word.startswith(f"{name}="):
                kept.append(word)
        return kept

    def of_resume(self) -> list[str]:
        """Return the options that `islands resume` also accepts; run.toml contains the others."""
        values = [(name, self.value(name)) for name in _OF_RESUME]
        kept = [word for name, value in values if value is not None for word in (name, value)]
        return [*kept, *(word for word in self.all if word in _FLAGS_OF_RESUME)]
