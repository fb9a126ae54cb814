"""The methods that `quality` compares: runs with different settings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from islands.configuration.given import gathered, of_text
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.configuration.stop import parse
from islands.errors import InputError, UsageError
from islands.problems.base import Problem

DEFAULT = "default"
"""The name of the default run."""
_FIXED = ("instance", "seed", "stop", "backend", "threads")
"""Settings that all methods share."""


@dataclass(frozen=True)
class Variant:
    """A requested method: its name and its settings."""

    name: str
    request: Request
    origin: str = ""
    """The option that defines it, for error messages."""

    def resolved(self, problem: Problem, every: int | None, options: Mapping[str, Any]) -> Method:
        """Return the method with these settings and `options`, among them the backend.

        The trace has a row every `every` generations, unless this is None or the variant sets it.
        """
        request = self.request.also({**options, "instance": problem.instance, "seed": 1})
        with _naming(self.origin):
            usual = {} if every is None else {"record.every": every}
            first = resolve(request.filled(usual), problem)
        return Method(self.name, options["backend"], first)


@dataclass(frozen=True)
class Method:
    """A variant on a backend, for one instance: runs that differ only in their seeds."""

    name: str
    backend: str
    first: Resolved
    """The run with the seed 1."""

    def run(self, seed: int, stop: Sequence[str] = ()) -> Resolved:
        """Return the run with this seed; `stop` replaces its stopping criteria."""
        run = self.first.later(seed - 1)
        return replace(run, spec=replace(run.spec, stop=tuple(map(parse, stop)) or run.spec.stop))

    def cells(self) -> dict[str, Any]:
        """Return the cells that name the method in tables."""
        return {"backend": self.backend, "method": self.name}


def variants(texts: Sequence[str]) -> list[Variant]:
    """Parse the texts of `--variant`; without any, return the default run."""
    methods = [_variant(text) for text in texts] or [Variant(DEFAULT, Request())]
    names = [method.name for method in methods]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--variant {name!r} is given twice. Give each variant once")
    return methods


@contextmanager
def _naming(origin: str) -> Iterator[None]:
    """Add the name of the variant to errors about settings and files."""
    try:
        yield
    except (UsageError, InputError) as error:
        if not origin:
            raise
        kind = UsageError if isinstance(error, UsageError) else InputError
        raise kind(f"{origin}: {error}") from error


def _variant(text: str) -> Variant:
    """Parse `default`, or the name of a configuration file and settings `KEY=VALUE`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--variant {text!r}: {error}. Correct the quotation marks") from None
    files = [word for word in words if word.endswith(".toml") and "=" not in word]
    settings = [word for word in words if word not in files and word != DEFAULT]
    if len(files) > 1:
        raise UsageError(f"--variant {text!r}: names {len(files)} files. Specify one file at most")
    with _naming(f"--variant {text!r}"):
        options = gathered(of_text(shlex.join(settings)))
    for name in _FIXED:
        if name in options:
            raise UsageError(
                f"--variant {text!r}: {name} is the same for all variants. Leave it out, and see"
                " --of, --seeds, --limit, --backend and --threads"
            )
    request = Request(options, Path(files[0]) if files else None)
    return Variant(" ".join(words) or DEFAULT, request, f"--variant {text!r}")
