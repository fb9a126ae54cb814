"""Changes of complete settings files: of values, names, tables and encodings."""

import copy
import random
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Any

import tomli_w
from fuzz_changes import NUMBERS, WORDS, changed

_MOST = 2**63 - 1
_VALUES: tuple[list[Any], ...] = (
    [0, 1, -1, 2, 7, 2**24 + 1, 2**31, 2**53 + 1, _MOST, _MOST + 1, -_MOST - 1, 10**30, 10**400],
    [-0.0, 0.5, -1.0, 5e-324, 1e17, 1.8e308, -1e308, float("inf"), float("-inf"), float("nan")],
    [
        *(*NUMBERS, *WORDS, "", " ", "\n", "\x1b[31m", "\u202e"),
        *("5m", "1e999s", "a" * 300, "ring", "ga"),
    ],
    ["a=b", "seconds=", "seconds=inf", "generations=1e300", "target=nan", "gap=-1%", "gap=1e999%"],
    [
        *("nosuch.py:Part", ".py:", "a.py:b.py:c", "~nosuchuser/x.py:y", "x\0.py:y"),
        *("/", "..", "'", '"'),
    ],
    ["demo/qap", "demo/mkp", "demo/tsp:00", "a" * 5000 + ".py:x", "islands=1 F='", "ga", '"'],
    [date(1, 1, 1), time(23, 59), datetime(9999, 12, 31, tzinfo=UTC)],
    [True, False, [], {}, [[]], [{}], {"a": {}}, [1, "a"]],
)
_KEYS = ["", "a.b", "\n", "name", "every", "stop", "start", "colony", "colonies", "migration"]
_KEYS += ["migration.topology", "interval", "halo", "rate", "format", "preset", "nosuch", "F", "f"]
_ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "latin-1", "cp037")
_CHOICES = [
    ("", "algorithm", ["brkga", "de", "cellular", "ga", "pso", "eax", "tempering", "memetic"]),
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


def changed_settings(content: bytes, draw: random.Random) -> bytes:
    """Return a settings file after a few changes, most of which leave it a TOML file."""
    if draw.random() < 0.25:
        return changed(content, draw)
    table = tomllib.loads(content.decode())
    for _ in range(draw.choice((1, 1, 1, 1, 2, 3))):
        _change(table, draw)
    text = tomli_w.dumps(table)
    if draw.random() < 0.1:  # a line twice, at random places
        lines = text.split("\n")
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
        text = "\n".join(lines)
    if draw.random() < 0.05:
        return text.encode(draw.choice(_ENCODINGS), "replace")
    return text.encode()


def _change(table: dict[str, Any], draw: random.Random) -> None:
    """Change a random value, name or table."""
    inside, kind = draw.choice(list(_tables(table))), draw.randrange(10)
    if kind < 2:  # choose another part, or another of a setting's choices
        place, name, choices = draw.choice(_CHOICES)
        if isinstance(part := table.get(place) if place else table, dict):
            part[name] = draw.choice(choices)
    elif kind == 2:
        inside[draw.choice(_KEYS)] = _value(draw)
    elif kind == 3:
        colonies = [{"islands": draw.choice((1, 2, _value(draw))), **table} for _ in range(2)]
        table["colony"] = copy.deepcopy(colonies[: draw.choice((1, 2))])
    elif inside:
        key = draw.choice(list(inside))
        value = inside[key]
        if kind < 7:
            inside[key] = _value(draw)
        elif kind == 7:
            inside[key] = draw.choice(_near(value))
        elif kind == 8:
            name = draw.choice((draw.choice(_KEYS), key.upper(), key[:-1], f"{key}x", f"x.{key}"))
            inside[name] = inside.pop(key)
        else:
            del inside[key]


def _tables(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all tables, the whole file first."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _tables(each)


def _value(draw: random.Random) -> Any:
    return copy.deepcopy(draw.choice(draw.choice(_VALUES)))


def _near(value: Any) -> list[Any]:
    """Return values that differ a little, or that are the same as another type."""
    others = [str(value), [value], {"a": value}, f" {value} ", f"{value}\0"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return others
    near = [value + 1, value - 1, -value, 2 * value]
    return [*others, *near, *([value / 3] if abs(value) < _MOST else [])]
