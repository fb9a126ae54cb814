"""All readers of files, and valid files of instances, solutions and options to damage."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from fuzz_cases import Target
from fuzz_records import records
from fuzz_settings import complete_settings

from islands.algorithms.pso import PsoSettings
from islands.cells.domains import domain
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.spec import GeneralSettings
from islands.configuration.stop import parse
from islands.paths import data_folder
from islands.problems import load


def targets(folder: Path) -> list[Target]:
    """Return all readers with valid files, some of which are written to the folder."""
    texts = [*complete_settings(folder), *words()]
    return [*instances(), *models(), *solutions(), *texts, *records(folder)]


def instances() -> list[Target]:
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
    titled = (
        b"some prose\n++++\nproblem A.DAT\n++++\n" + sac94 + b"++++\nproblem B.DAT\n++++\n" + sac94
    )

    def read(path: Path) -> object:
        return load(str(path))

    def part(path: Path) -> object:
        return load(f"{path}:01")

    return [
        Target("tsplib", "a.tsp", (tsp, matrix, geo), read),
        Target("dat", "a.dat", (qap, drake, sac94), read),
        Target("orlib", "a.txt", (orlib, titled), part),
    ]


MODEL_FILES: dict[str, tuple[bytes, ...]] = {
    "jobshop": (b"# two jobs\n2 2\n0 3 1 2\n1 4 0 1\n",),
    "flexiblejobshop": (b"2 2 1.5\n2 2 1 5 2 7 1 2 3\n1 1 1 6\n",),
    "flowshop": (b"jobs, machines, ... :\n 3 2 1 9 9\nprocessing times :\n 3 1 2\n 2 4 1\n",),
    "setcover": (
        b"2 3\n5 6 7\n2 1 2\n1 3\n",
        b"2 3\n5 1 1\n6 1 1\n7 1 2\n",
        b"2 3\n9 9 9 9\n2 1 2\n1 3\n",
    ),
    "maxcut": (b"4 3\n1 2 5\n2 3 -1\n1 4 2\n",),
    "qubo": (b"3 2\n1 1 -5\n1 2 3\n", b"c one\np qubo 0 3 1 1\n0 0 -5\n0 1 0.5\n"),
    "bqp": (b"3 2\n1 1 -5\n1 2 3\n", b"1\n3 2\n1 1 -5\n1 2 3\n"),
    "colouring": (b"c a comment\np edge 4 3\ne 1 2\ne 2 3\ne 3 1\n", b"e 1 2\ne 2 3\n"),
    "pmedian": (b"4 4 1\n1 2 3\n2 3 4\n3 4 1\n1 2 2\n",),
    "binpacking": (b"3\n10\n6\n5\n4\n",),
    "diversity": (b"3 2\n0 1 1.5\n0 2 4\n1 2 2\n",),
}
"""Valid files in each format of `islands.models`."""


def models() -> list[Target]:
    def reader(form: str) -> Callable[[Path], object]:
        return lambda path: load(str(path), form)

    return [Target(form, f"{form}.txt", files, reader(form)) for form, files in MODEL_FILES.items()]


def solutions() -> list[Target]:
    demos = data_folder("instances")

    def of(name: str) -> Callable[[Path], object]:
        problem = load(name)
        return lambda path: (problem.read_solution(path), problem.remarks_on(path, None))

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


def words() -> list[Target]:
    problem = load("demo/mkp")
    options = (
        "crossover_rate=0.3",
        "islands=3",
        "seed=7",
        "improver.name=flip",
        "checkpoint.every=5m",
    )
    options += ("migration=ring", "infeasible=drop", "selection=best", "reset=9")
    groups = (GeneralSettings, PsoSettings)
    settings = {name: group for group in groups for name in group.names()}
    ranges = (b"inertia=0.1..0.9", b"c1=1..9:log", b"islands=1,2,3")

    def word(path: Path) -> str:
        return path.read_bytes().decode("utf-8", "replace")

    def stop(path: Path) -> object:
        return parse(word(path))

    def option(path: Path) -> object:
        key, _, value = word(path).partition("=")
        return resolve(Request.of({"algorithm": "ga", key: value}), problem).spec

    def compiler(path: Path) -> object:
        from islands.backends.cpu import compiler

        os.environ["CXX"] = word(path).replace("\0", "")
        try:
            return compiler()
        finally:
            del os.environ["CXX"]

    return [
        Target("--stop", "stop", (b"seconds=5m", b"gap=0.5%", b"target=1e9"), stop),
        Target("--set", "set", tuple(map(str.encode, options)), option),
        Target("--over", "over", ranges, lambda path: domain(word(path), settings)),
        Target("CXX", "cxx", (b"c++", b"c++ -O2", b"g++"), compiler),
    ]
