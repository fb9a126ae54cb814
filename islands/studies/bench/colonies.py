"""Colonies of different algorithms compared with each algorithm alone, at equal time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from islands.configuration.given import colonies as parsed
from islands.configuration.request import Request
from islands.errors import UsageError
from islands.problems import loaded
from islands.problems.base import Problem
from islands.studies.bench import BENCHES
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.quality import compared
from islands.studies.bench.variants import Variant
from islands.tables import Row

_SUITED: Mapping[str, Sequence[str]] = BENCHES["colonies"]["suited"]
"""The default colonies by the name of a problem, or by its kind of solutions."""


def measure(request: BenchRequest) -> Iterator[Row]:
    """Return the rows of all methods on each instance; reject invalid ones first; collective."""
    problems = request.world.run_on_all(lambda: [loaded(name) for name in request.mixes])
    return compared(request, problems, lambda problem: methods(problem, request))


def methods(problem: Problem, request: BenchRequest) -> list[Variant]:
    """Return the colonies together and each colony alone, all with and without migration."""
    suited = _SUITED.get(problem.name) or _SUITED[problem.solution_kind]
    colonies = parsed(list(request.colony or suited))
    if len(colonies) < 2:
        raise UsageError(
            f"bench colonies: {problem.instance} has one colony. Specify two or more with --colony"
        )
    share = max(1, request.islands_a_rank // len(colonies))
    mixed = [{"islands": share, **colony} for colony in colonies]
    islands = sum(int(colony["islands"]) for colony in mixed)
    variants = _both("together", mixed, request)
    for number, colony in enumerate(colonies):
        names = (str(colony[key]) for key in ("algorithm", "encoding") if key in colony)
        name = " ".join(["colony", str(number), *names])
        variants += _both(name, [{**colony, "islands": islands}], request)
    return variants


def _both(name: str, colonies: Sequence[Mapping[str, Any]], request: BenchRequest) -> list[Variant]:
    """Return a method with these colonies and migration, and one without migration."""
    run_request = Request(
        {
            "colony": [dict(colony) for colony in colonies],
            "migration.interval": request.interval,
            "migration.migrants": request.migrants,
        }
    )
    return [
        Variant(name, run_request.also({"migration.topology": request.topology})),
        Variant(f"{name}, no migration", run_request.also({"migration.topology": "none"})),
    ]
