"""What reads instances, solutions, settings and options, with whole ones to damage."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from fuzz_cases import Target

from islands.paths import data_folder
from islands.problems import load
from islands.run.resolve import layers, resolve
from islands.run.settings_file import read_settings, write_settings
from islands.run.stop import parse
from islands.tune.domain import domain


def instances() -> list[Target]:
    """Return the readers of instances."""
    tsp = (
        b"NAME: five\nTYPE: TSP\nCOMMENT: made here\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\n"
        b"NODE_COORD_SECTION\n1 7.5 3e1\n2 14.5 6e1\n3 21.5 9e1\n4 28.5 12e1\n5 3 15\nEOF\n"
    )
    matrix = (
        b"NAME: four\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        b"EDGE_WEIGHT_FORMAT: LOWER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n0 3 0 4 5 0\n6 7 8 0\nEOF\n"
    )
    geo = tsp.replace(b"EUC_2D", b"GEO")
    qap = b"3\n\n0 1 2 1 0 3 2 3 0\n\n0 5 6\n5 0 7\n6 7 0\n"
    drake = b"4 2 0\n10 20 30 40\n1 2 3 4\n4 3 2 1\n6 7\n"
    orlib = b"2\n" + drake + drake
    sac94 = b"2 4\n10 20 30 40\n6 7\n1 2 3 4\n4 3 2 1\n\n70\n"
    titled = b"some prose\n++++\nproblem A.DAT\n++++\n" + sac94

    def read(path: Path) -> object:
        return load(str(path))

    def part(path: Path) -> object:
        return load(f"{path}:01")

    return [
        Target("tsplib", "a.tsp", (tsp, matrix, geo), read),
        Target("dat", "a.dat", (qap, drake, sac94), read),
        Target("orlib", "a.txt", (orlib, titled), part),
    ]


def solutions() -> list[Target]:
    """Return the readers of solutions."""
    demos = data_folder("instances")

    def of(name: str) -> Callable[[Path], object]:
        problem = load(name)
        return lambda path: problem.read_remarked(path)

    tsp, qap, mkp = of("demo/tsp"), of("demo/qap"), of("demo/mkp")
    order = json.dumps(list(range(200))).encode()
    result = json.dumps({"cost": 3, "solution": list(range(30))}).encode()
    return [
        Target("tour", "a.tour", ((demos / "tsp" / "demo.opt.tour").read_bytes(),), tsp),
        Target("sln", "a.sln", ((demos / "qap" / "demo.sln").read_bytes(),), qap),
        Target("sol", "a.sol", ((demos / "mkp" / "demo.sol").read_bytes(),), mkp),
        Target("json", "a.json", (order, result), tsp),
        Target("json of a choice", "b.json", (b"[0, 3, 5]", result), mkp),
    ]


def settings(folder: Path) -> list[Target]:
    """Return what reads settings."""
    problem = load("demo/tsp")
    spec = resolve(layers({"stop": "generations=9"}), problem)
    write_settings(folder, spec)
    whole = (folder / "run.toml").read_bytes()
    few = b'preset = "xavier2019"\nstop = ["seconds=9"]\n[migration]\ninterval = 7\n'

    def resolved(path: Path) -> object:
        return resolve(layers({}, path), problem)

    return [
        Target("configuration", "a.toml", (few, whole), resolved),
        Target("run.toml", "run.toml", (whole,), lambda path: read_settings(path.parent)),
    ]


def words() -> list[Target]:
    """Return what reads options."""
    problem = load("demo/mkp")
    options = (
        "rho",
        "islands",
        "seed",
        "improver.name",
        "checkpoint.every",
        "migration",
        "nonsense",
    )

    def word(path: Path) -> str:
        return path.read_bytes().decode("utf-8", "replace")

    def option(path: Path) -> object:
        key, _, value = word(path).partition("=")
        return resolve(layers({key: value}), problem)

    def compiler(path: Path) -> object:
        from islands.backends.cpu import compiler

        os.environ["CXX"] = word(path).replace("\0", "")
        try:
            return compiler()
        finally:
            del os.environ["CXX"]

    return [
        Target(
            "--stop", "stop", (b"seconds=5m", b"gap=0.5%", b"target=1e9"), lambda p: parse(word(p))
        ),
        Target("--set", "set", tuple(f"{name}=0.5".encode() for name in options), option),
        Target(
            "--over",
            "over",
            (b"rho=0.1..0.9", b"c1=1..9:log", b"islands=1,2,3"),
            lambda p: domain(word(p), {}),
        ),
        Target("CXX", "cxx", (b" ", b"/no/compiler -O2", b"'", b"# -O2"), compiler),
    ]
