"""An interrupted experiment continues in its folder, for every table of every paper."""

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pytest

pytest.importorskip("scipy")

from results_for_tests import called, ended
from synthetic import uniform_tsp

from islands.cells.campaign import Campaign
from islands.configuration.request import Request
from islands.configuration.stop import last_generation, parse
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.instances.locate import Index, Located
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.studies import papers
from islands.studies.described import described
from islands.studies.papers import PAPERS, experiment
from islands.studies.papers import perform as module
from islands.studies.papers.experiment import ExperimentRequest
from islands.studies.papers.perform import ExperimentFolder
from islands.studies.papers.selection import Selection
from islands.studies.papers.table import PaperTable

TABLES = {
    f"{paper}/{name}": table
    for paper, home in PAPERS.items()
    for name, table in import_module(home).PAPER.tables.items()
}
LONGEST = ("soca2010/calibration", "dantas2014/islands", "munhao2019/search")
SETTINGS = {"what": "a/b", "seeds": {"b": [1, 2]}}


def problem(found: Located) -> Problem:
    """Return a small problem with a published name."""
    kind = found.name.partition("/")[0]
    if kind in ("national", "vlsi"):
        made: Problem = Tsp(uniform_tsp(6, seed=1), found.name)
        made.best_known = BestKnown(900, "optimal", "")
        return made
    return called(found.name, 900, maximise=kind != "qaplib")


class FakeRuns:
    """Fake runs whose results depend only on their options; it counts them and interrupts one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, self.ends_at = 0, 0
        batch = lambda _, *request, **more: self._batch(*request, **more)  # noqa: E731
        monkeypatch.setattr(module, "read", problem)
        monkeypatch.setattr(module, "write_plot", lambda *_: None)
        monkeypatch.setattr(experiment, "take_device", lambda *_: None)
        monkeypatch.setattr(experiment, "run_requested", self._run)
        monkeypatch.setattr(experiment.Experiment, "batch", batch)

    def _chance(self, request: Any) -> int:
        self.count += 1
        if self.count == self.ends_at:
            raise KeyboardInterrupt
        return crc32(json.dumps(request, sort_keys=True).encode())

    def _run(self, request: Request, *_: Any) -> Any:
        chance = self._chance(request.options)
        ends = dict.fromkeys(("interrupted", "suspended", "is_partial"), False)
        numbers = {"cost": 1000 + chance % 89, "seconds": (1 + chance % 97) / 7}
        return SimpleNamespace(**numbers, generations=500, abandoned_seconds=0.0, **ends)

    def _batch(self, problem: Problem, runs: int, **options: Any) -> Any:
        chance = self._chance([options, problem.instance, runs])
        sign = -1 if problem.maximise else 1
        costs = [900 + sign * ((chance >> shift) % 89) for shift in range(runs)]
        return ended(costs, generations=500, seconds=(1 + chance % 83) / 11)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    return FakeRuns(monkeypatch)


def filled(
    table: type[PaperTable], folder: ExperimentFolder | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the result of a table with two instances, and the printed lines; close the folder."""
    here = [found for found in table.instances(Index()) if found.name][:2]
    campaign = Campaign()
    if folder is not None:
        campaign.store = folder.store
    request = ExperimentRequest("cuda", "a GPU", (1,), 2, 500, campaign)
    said = list[str]()
    try:
        return module.perform([Selection(table, here, [])], request, said.append, folder), said
    finally:
        if folder is not None:
            folder.close()


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.csv")}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONGEST)) for each in TABLES]
)
def test_each_table_continues_after_an_interrupt(name: str, runs: FakeRuns, tmp_path: Path) -> None:
    table = TABLES[name]
    whole, said = filled(table, ExperimentFolder(tmp_path / "whole", SETTINGS))
    count, table_files = runs.count, files(tmp_path / "whole")
    assert count > 1
    assert table_files
    for ends_at in sorted({1, count // 2 + 1, count}):
        path = tmp_path / str(ends_at)
        runs.count, runs.ends_at = 0, ends_at
        with pytest.raises(KeyboardInterrupt):
            filled(table, ExperimentFolder(path, SETTINGS))
        runs.count, runs.ends_at = 0, 0
        again, heard = filled(table, ExperimentFolder(path, SETTINGS))
        # The interrupted part may include a warm-up batch, which runs again.
        redone = runs.count - (count - ends_at + 1)
        assert 0 <= redone <= (name == "dantas2014/islands")
        assert again == whole
        assert [line for line in heard if "from earlier runs" not in line] == said
        assert files(path) == table_files
        runs.count = 0
        assert filled(table, ExperimentFolder(path, SETTINGS))[0] == whole
        assert runs.count == 0


def test_a_folder_of_another_experiment_is_rejected(tmp_path: Path) -> None:
    ExperimentFolder(tmp_path, SETTINGS).store.close()
    with pytest.raises(
        UsageError, match=r"other settings: what, seeds|other settings: seeds, what"
    ):
        ExperimentFolder(tmp_path, {"seeds": {"b": [1]}})
    assert len(ExperimentFolder(tmp_path, SETTINGS).store) == 0


@pytest.mark.parametrize("name", TABLES)
def test_presets_have_the_generations_of_the_tables(name: str) -> None:
    table = TABLES[name]
    for preset in table.presets().split(" and "):
        stop = Request.of({"preset": preset}).values["stop"]
        # The plan of a calibration is shorter.
        assert table.generations in (last_generation(map(parse, stop)), 500)


@pytest.mark.parametrize("name", TABLES)
def test_files_of_papers_set_known_attributes(name: str) -> None:
    paper, _, own = name.partition("/")
    file = described(Path(papers.__file__).with_name(f"{paper}.toml"))
    kinds = TABLES[name].__mro__
    known = {each for kind in kinds for each in vars(kind).get("__annotations__", ())}
    assert {*file["usual"], *file[own]} <= known
