"""Compare ranks, which must agree on given facts and run the same program."""

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
"""Facts about a rank by name; bytes are digests, a mapping contains settings."""

_PACKAGE = Path(islands.__file__).parent
_MOST_SHOWN = 5
_LONGEST_VALUE = 60


def differences(world: World, facts: Facts, where: str = "") -> str:
    """Return how other ranks differ from rank 0, or an empty string; collective.

    The text is the same on all ranks. It names their hosts, followed by `where`.
    """
    entry = (f"host {platform.node()}{where}", dict(facts))
    # A rank with another version of this module may send any value.
    gathered = [sent if _is_valid(sent) else ("unknown", {}) for sent in world.allgather(entry)]
    first = gathered[0][1]
    differing = [rank for rank, (_, theirs) in enumerate(gathered) if theirs != first]
    if not differing:
        return ""
    several, all_facts = len(differing) > 1, [theirs for _, theirs in gathered]
    names = [name for name in facts if any(f.get(name) != first.get(name) for f in all_facts)]
    words = [_difference(name, all_facts, several=several) for name in names]
    shown = [0, *differing[:_MOST_SHOWN]]
    places = "; ".join(f"rank {rank}: {gathered[rank][0]}" for rank in shown)
    more = " ..." if len(differing) > _MOST_SHOWN else ""
    ranks = ", ".join(map(str, differing[:_MOST_SHOWN]))
    ending = "" if several else "s"
    return (
        f"rank{'s' if several else ''} {ranks}{more} of {len(gathered)} differ{ending}"
        f" from rank 0 in {' and '.join(words)} [{places}{more}]"
    )


def require_same_program(world: World) -> None:
    """Reject ranks that run another version, other sources or other kernels; collective."""
    if world.size == 1:
        return
    facts = world.run_on_all(_program)
    if words := differences(world, facts, f", {_PACKAGE}"):
        raise UsageError(
            f"{words}. All ranks must run the same program: install the same version of islands on"
            " every host, or one that all hosts share, and start all ranks with its Python"
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
    digest = hashlib.sha256()
    # Every rank does this at its start: `os.walk` takes half the time of `Path.rglob`.
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(name for name in files if name.endswith(suffixes)):
            path = Path(root, name)
            with reading(path):
                content = path.read_bytes()
            digest.update(f"{path.relative_to(folder)} {len(content)}\0".encode())
            digest.update(content)
    return digest.digest()


def _is_valid(sent: object) -> bool:
    """Return whether another rank has sent its place and facts."""
    kinds = tuple(map(type, sent)) if isinstance(sent, tuple) else ()
    return kinds == (str, dict)


def _difference(name: str, all_facts: Sequence[Facts], *, several: bool) -> str:
    """Return the name of a fact, with the values of the first rank that differs and of rank 0."""
    values = [facts.get(name) for facts in all_facts]
    first = values[0]
    rank, other = next((i, value) for i, value in enumerate(values) if value != first)
    where = f" on rank {rank}" if several else ""
    if isinstance(first, Mapping) and isinstance(other, Mapping):
        one, two = flat(other), flat(first)
        words = [
            f"{key} {_shown(one.get(key))} instead of {_shown(two.get(key))}"
            for key in two | one
            if one.get(key) != two.get(key)
        ]
        more = ", ..." if len(words) > _MOST_SHOWN else ""
        return f"{name} ({', '.join(words[:_MOST_SHOWN])}{more}{where})"
    if isinstance(first, bytes) or isinstance(other, bytes):
        return name
    return f"{name} ({_shown(other)} instead of {_shown(first)}{where})"


def _shown(value: object) -> str:
    return "unknown" if value is None else one_line(str(value), _LONGEST_VALUE)
