"""Ranks that must be alike: comparisons of what each states, and of the program that it runs."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import islands
from islands.errors import UsageError
from islands.parallel.world import World
from islands.paths import data_folder, reading
from islands.settings import flat
from islands.text import one_line

Facts = Mapping[str, object]
"""What a rank states, by name; bytes are digests, and a mapping has a value for each setting."""

_PACKAGE = Path(islands.__file__).parent
_MOST_SHOWN = 5
_LONGEST_VALUE = 60


def differences(world: World, facts: Facts, where: str = "") -> str:
    """Return how other ranks differ from rank 0, or an empty string; collective.

    The text is the same on all ranks. It names their hosts and what `where` says of their places.
    """
    own = (f"host {platform.node()}{where}", dict(facts))
    # A rank with another version of this file may send anything.
    said = [each if _is_like(each, own) else ("unknown", {}) for each in world.allgather(own)]
    first = said[0][1]
    differing = [rank for rank, (_, other) in enumerate(said) if other != first]
    if not differing:
        return ""
    several = len(differing) > 1
    names = [name for name in facts if any(other.get(name) != first.get(name) for _, other in said)]
    words = [_difference(name, said, several=several) for name in names]
    places = "; ".join(f"rank {rank}: {said[rank][0]}" for rank in [0, *differing[:_MOST_SHOWN]])
    more = " ..." if len(differing) > _MOST_SHOWN else ""
    ranks = ", ".join(map(str, differing[:_MOST_SHOWN]))
    return (
        f"rank{'s' if several else ''} {ranks}{more} of {len(said)} differ{'' if several else 's'}"
        f" from rank 0 in {' and '.join(words)} [{places}{more}]"
    )


def require_same_program(world: World) -> None:
    """Refuse ranks that run another version, other sources or other kernels; collective."""
    if world.size == 1:
        return
    facts = world.run_on_all(_program)
    if found := differences(world, facts, f", {_PACKAGE}"):
        raise UsageError(
            f"{found}. Their results would not be those of one program: install the same islands"
            " on every host, or one that all hosts share, and start all ranks with its Python"
        )


def _program() -> dict[str, object]:
    return {
        "the version of islands": islands.__version__,
        "the sources of islands": _digest(_PACKAGE, (".py", ".toml")),
        "the kernels": _digest(data_folder("kernels"), (".cuh",)),
    }


@cache
def _digest(folder: Path, suffixes: tuple[str, ...]) -> bytes:
    """Return a digest of the names and the contents of the files with these suffixes."""
    found = hashlib.sha256()
    # Each rank does this at its start: `os.walk` takes half the time of `Path.rglob`.
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(name for name in files if name.endswith(suffixes)):
            path = Path(root, name)
            with reading(path):
                content = path.read_bytes()
            found.update(f"{path.relative_to(folder)} {len(content)}\0".encode())
            found.update(content)
    return found.digest()


def _is_like(value: object, own: tuple[str, dict[str, object]]) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == len(own)
        and isinstance(value[0], str)
        and isinstance(value[1], dict)
    )


def _difference(
    name: str, said: Sequence[tuple[str, Mapping[str, object]]], *, several: bool
) -> str:
    """Return the name of a fact, with the values of the first rank that differs and of rank 0."""
    first = said[0][1].get(name)
    rank, mine = next(
        (i, own.get(name)) for i, (_, own) in enumerate(said) if own.get(name) != first
    )
    of_rank = f" on rank {rank}" if several else ""
    if isinstance(first, Mapping) and isinstance(mine, Mapping):
        one, two = flat(mine), flat(first)
        changed = [key for key in {**two, **one} if one.get(key) != two.get(key)]
        words = [
            f"{key} {_shown(one.get(key))} instead of {_shown(two.get(key))}" for key in changed
        ]
        more = ", ..." if len(words) > _MOST_SHOWN else ""
        return f"{name} ({', '.join(words[:_MOST_SHOWN])}{more}{of_rank})"
    if isinstance(first, bytes) or isinstance(mine, bytes):
        return name
    return f"{name} ({_shown(mine)} instead of {_shown(first)}{of_rank})"


def _shown(value: object) -> str:
    return "unknown" if value is None else one_line(str(value), _LONGEST_VALUE)
