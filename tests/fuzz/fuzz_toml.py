"""Changes of complete settings files: of values, names, tables and encodings."""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Any

import tomli_w
from fuzz_changes import changed

_MOST = 2**63 - 1
_NUMBERS = [0, 1, -1, 2, 3, 7, 2**15, 2**24, 2**24 + 1, 2**30, 2**31 - 1, 2**31, 2**32, 2**53 + 1]
_NUMBERS += [_MOST, _MOST + 1, -_MOST - 1, 10**30, -(10**30), 10**400]
_REALS = [0.0, -0.0, 0.5, 1.5, -1.0, 1e-9, 5e-324, 1e17, 1e100, 1.8e308, -1e308]
_REALS += [float("inf"), float("-inf"), float("nan")]
_TEXTS = ["", " ", "\t", "\n", "\0", "\x1b[31m", "\u202e", "0", "-1", "1e400", "nan", "true", "no"]
_TEXTS += ["1" * 5000, "٣", "1_000", "0x10", "5m", "1e999s", "-5s", "inf", "a" * 300, "ring", "ga"]
_TEXTS += ["=", "a=b", "seconds=", "seconds=inf", "generations=1e300", "target=1e9999999999", "."]
_TEXTS += ["target=nan", "gap=-1%", "gap=1e999%", "evaluations=" + "9" * 5000, "/", ".."]
_TEXTS += ["nosuch.py:Part", ".py", ".py:", "a.py:b.py:c", "~nosuchuser/x.py:y", "x\0.py:y"]
_TEXTS += ["demo/qap", "demo/mkp", "demo/tsp:00", "a" * 5000 + ".py:x", "'", '"', "islands=1 F='"]
_TIMES = [date(1, 1, 1), time(23, 59), datetime(9999, 12, 31, tzinfo=UTC)]
_WHOLE: list[Any] = [True, False, [], {}, [[]], [{}], {"a": {}}, [1, "a"], [None]]
_KEYS = ["", " ", "a.b", "\n", "name", "every", "stop", "start", "colony", "colonies", "migration"]
_KEYS += ["migration.topology", "interval", "halo", "rate", "format", "preset", "nosuch", "F", "f"]
_ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "latin-1", "cp037")


def changed_settings(content: bytes, draw: random.Random) -> bytes:
    """Return a settings file after a few changes, most of which leave it a TOML file."""
    if draw.random() < 0.25:
        return changed(content, draw)
    table = tomllib.loads(content.decode())
    for _ in range(draw.choice((1, 1, 1, 1, 2, 3))):
        draw.choice(_CHANGES)(table, draw)
    text = _written(table)
    if draw.random() < 0.1:
        text = _twice(text, draw)
    if draw.random() < 0.05:
        return text.encode(draw.choice(_ENCODINGS), "replace")
    return text.encode()


def _written(table: dict[str, Any]) -> str:
    return tomli_w.dumps(_without_none(table))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_none(each) for each in value if each is not None]
    return value


def _tables(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all tables, the whole file first."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _tables(each)


def _chosen(table: dict[str, Any], draw: random.Random) -> tuple[dict[str, Any], str | None]:
    """Return one of the tables and one of its keys, if it has any."""
    inside = draw.choice(list(_tables(table)))
    return inside, draw.choice(list(inside)) if inside else None


def _value(draw: random.Random) -> Any:
    kind = draw.choice((_NUMBERS, _REALS, _TEXTS, _TIMES, _WHOLE))
    return copy.deepcopy(draw.choice(kind))


def _replace(table: dict[str, Any], draw: random.Random) -> None:
    inside, key = _chosen(table, draw)
    if key is not None:
        inside[key] = _value(draw)


def _near(table: dict[str, Any], draw: random.Random) -> None:
    """Change a value a little, or write it as another type."""
    inside, key = _chosen(table, draw)
    if key is None:
        return
    value = inside[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        inside[key] = draw.choice((str(value), [value], {"a": value}, f" {value} ", f"{value}\0"))
    else:
        near = [value + 1, value - 1, -value, 2 * value, str(value)]
        near += [value / 3, float(value)] if abs(value) < _MOST else []
        inside[key] = draw.choice(near)


def _other(table: dict[str, Any], draw: random.Random) -> None:
    """Replace a value by that of another setting."""
    inside, key = _chosen(table, draw)
    other, name = _chosen(table, draw)
    if key is not None and name is not None:
        inside[key] = copy.deepcopy(other[name])


def _chosen_part(table: dict[str, Any], draw: random.Random) -> None:
    """Choose another part or another of a setting's choices."""
    place, name, choices = draw.choice(_CHOICES)
    inside = table.get(place) if place else table
    if isinstance(inside, dict):
        inside[name] = draw.choice(choices)


def _remove(table: dict[str, Any], draw: random.Random) -> None:
    inside, key = _chosen(table, draw)
    inside.pop(key, None)  # type: ignore[arg-type]


def _rename(table: dict[str, Any], draw: random.Random) -> None:
    inside, key = _chosen(table, draw)
    if key is not None:
        name = draw.choice((draw.choice(_KEYS), key.upper(), key[:-1], f"{key}x", f"x.{key}"))
        inside[name] = inside.pop(key)


def _add(table: dict[str, Any], draw: random.Random) -> None:
    inside, _ = _chosen(table, draw)
    inside[draw.choice(_KEYS)] = _value(draw)


def _nest(table: dict[str, Any], draw: random.Random) -> None:
    """Put a value deeper, or a table into another one."""
    inside, key = _chosen(table, draw)
    if key is None:
        return
    value: Any = inside[key]
    for _ in range(draw.choice((1, 2, 50))):
        value = draw.choice(([value], {key: value}))
    inside[key] = value


def _colonies(table: dict[str, Any], draw: random.Random) -> None:
    """Move some settings into colonies."""
    names = [name for name in ("algorithm", "encoding", "population") if name in table]
    colony: dict[str, Any] = {name: table.pop(name) for name in names if draw.random() < 0.7}
    colony["islands"] = draw.choice((1, 2, _value(draw)))
    if draw.random() < 0.5:
        colony["rate"] = draw.choice((2, _value(draw)))
    if draw.random() < 0.8:
        table.pop("islands", None)
    table["colony"] = [colony, *([copy.deepcopy(colony)] if draw.random() < 0.5 else [])]


def _twice(text: str, draw: random.Random) -> str:
    """Write a line twice, at random places."""
    lines = text.split("\n")
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return "\n".join(lines)


_ALGORITHMS = ["brkga", "de", "cellular", "ga", "pso", "eax", "tempering", "memetic"]
_CHOICES = [
    ("", "algorithm", _ALGORITHMS),
    ("", "encoding", ["keys", "permutation", "bits", "box"]),
    ("", "decoding", ["", "sorted", "plain", "host"]),
    ("", "halo", [True, False]),
    ("", "preset", ["xavier2019", "jardim2021-a", "soca2010", "munhao2019-m1"]),
    ("", "instance", ["demo/tsp", "demo/qap", "demo/mkp"]),
    ("", "crossover", ["one_point", "two_point", "pmx", "order", "cycle", "uniform"]),
    ("", "mutation", ["swap", "insertion", "reset", "flip"]),
    ("", "infeasible", ["drop", "linear", "dynamic", "repair"]),
    ("improver", "name", ["none", "two_opt", "or_opt", "tabu", "swap", "flip", "exchange"]),
    ("migration", "topology", ["ring", "elite", "broadcast", "torus", "random", "none"]),
]
_CHANGES = (
    *(_replace, _replace, _replace, _near, _near, _other, _chosen_part, _chosen_part),
    *(_remove, _rename, _add, _nest, _colonies),
)
