"""Colonies in the settings of a run, and what all ranks must agree on."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray
from problems_for_tests import facilities, knapsack

from islands.configuration.identity import identity, require_agreement
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.testing.ranks import on_ranks

STOP = "generations=5"
TWO = ["islands=2 algorithm=de F=0.7 population=20", "islands=3 algorithm=ga rate=4"]


def resolved(colonies: Any, config: Path | None = None, **options: Any) -> RunSpec:
    request = {"stop": STOP, **({} if colonies is None else {"colonies": colonies}), **options}
    return resolve(Request.of(request, config), facilities(9)).spec


def test_a_colony_is_resolved_like_a_run_of_its_own() -> None:
    spec = resolved(TWO, migration="ring")
    one, other = spec.colonies
    parts = [(c.islands, c.algorithm, c.encoding, c.rate) for c in spec.colonies]
    assert parts == [(2, "de", "keys", 1), (3, "ga", "permutation", 4)]
    assert one.population == 20
    run_of_one = resolved(None, algorithm="de", F=0.7, population=20, islands=2)
    run_of_other = resolved(None, algorithm="ga", islands=3)
    for colony, run in ((one, run_of_one), (other, run_of_other)):
        assert (colony.settings, colony.improver) == (run.settings, run.improver)
    assert spec.general.islands == 5
    assert spec.starts() == [0, 2]
    assert spec.individuals() == 2 * 20 + 3 * 256
    assert spec.individuals(range(1, 3)) == 20 + 256


def test_text_and_mappings_mean_the_same() -> None:
    text = ["islands=2 improver=swap improver.rate=0.5", "islands=1 algorithm=ga"]
    second = {"islands": 1, "algorithm": "ga"}
    flat = {"islands": 2, "improver": "swap", "improver.rate": 0.5}
    nested = {"islands": "2", "improver": {"name": "swap", "rate": 0.5}}
    assert resolved([flat, second]) == resolved([nested, second]) == resolved(text)


def test_the_settings_file_repeats_the_run(tmp_path: Path) -> None:
    spec = resolved(TWO, migration="ring", **{"migration.delay": 1})
    path = tmp_path / "run.toml"
    path.write_text(spec.to_toml(), encoding="utf-8")
    assert resolve(Request.of({}, path), facilities(9)).spec == spec
    table = tomllib.loads(spec.to_toml())
    assert [each["algorithm"] for each in table["colony"]] == ["de", "ga"]
    assert not {"algorithm", "encoding", "population", "improver"} & table.keys()


def test_stronger_sources_replace_settings_of_weaker_colonies(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(
        'algorithm = "ga"\n[[colony]]\nislands = 1\npopulation = 30\n'
        "[[colony]]\nislands = 2\npopulation = 50\n",
        encoding="utf-8",
    )
    assert [each.population for each in resolved(None, path).colonies] == [30, 50]
    assert [each.population for each in resolved(None, path, population=60).colonies] == [60, 60]
    replaced = resolved(["islands=4 algorithm=de"], path)
    assert [(each.islands, each.algorithm) for each in replaced.colonies] == [(4, "de")]


def test_colonies_do_not_use_the_migration_of_a_problem_for_one_of_them() -> None:
    # The default of a knapsack is a ring, which belongs to its default algorithm.
    usual = resolve(Request.of({"stop": STOP}), knapsack(20, 3)).spec
    assert usual.migration.topology == "ring"
    for colonies in (["islands=1", "islands=1 algorithm=pso"], ["islands=1 algorithm=pso"] * 2):
        spec = resolve(Request.of({"stop": STOP, "colonies": colonies}), knapsack(20, 3)).spec
        assert spec.migration.topology == "elite"


class Data(FakeProblem):
    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self.numbers = numbers

    def arrays(self) -> list[NDArray[np.generic]]:
        return [np.array(self.numbers)]


class Known(Data):
    def __init__(self, value: int) -> None:
        super().__init__(1, 2)
        self.best_known = BestKnown(value, "best_known", "a paper")


def agree(*ranks: dict[str, Any]) -> None:
    """Require agreement of ranks with different settings, problems or outputs."""

    def one(world: World) -> None:
        request = {"instance": "fake/five", **ranks[world.rank]}
        problem = request.pop("problem", Data(1, 2))
        output = {name: request.pop(name) for name in ("folder", "asynchronous") if name in request}
        writes = request.pop("writes", True)
        require_agreement(world, resolve(Request.of(request), problem), writes=writes, **output)

    on_ranks(len(ranks), one)


def test_ranks_may_use_different_devices() -> None:
    agree({"backend": "cpu", "threads": 2}, {"backend": "auto", "threads": 3}, {})


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rho": 0.8}, r"the settings \(rho 0\.8 instead of 0\.7\)"),
        ({"problem": Data(1, 3)}, "the data of the instance"),
        ({"writes": False}, "whether files are written"),
        ({"folder": Path("a")}, "the folder of the files"),
        ({"asynchronous": True}, "async"),
        ({"seed": 2, "problem": Data(2)}, "the settings .* and the data of the instance"),
        ({"problem": Known(90)}, "the best known cost"),
    ],
)
def test_ranks_with_differences_are_named(change: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=rf"^rank 1 of 3 differs from rank 0 in {what}"):
        agree({}, change, {})


def digest(problem: FakeProblem, **options: Any) -> str:
    return identity(resolve(Request.of({"instance": "fake/five", **options}), problem))


def test_identity_depends_on_settings_and_data_but_not_on_criteria_and_devices() -> None:
    sames = {"backend": "cpu", "threads": 2}, {"stop": "seconds=5"}, {"checkpoint.every": 300}
    for same in sames:
        assert digest(Data(1, 2), **same) == digest(Data(1, 2))
    for other in ({"seed": 2}, {"rho": 0.8}, {"record.every": 5}):
        assert digest(Data(1, 2), **other) != digest(Data(1, 2))
    assert digest(Data(1, 3)) != digest(Data(1, 2))
