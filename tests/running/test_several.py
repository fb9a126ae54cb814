from __future__ import annotations

import csv
import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from fakes import DeadError, FakeArchipelago, on_ranks
from started import AnyOrder

from islands.errors import InputError, UsageError
from islands.instances.catalogue import BestKnown
from islands.lookout import Candidate
from islands.parallel import World
from islands.run import plan, runner
from islands.run.machine import Conduct
from islands.run.plan import Plan
from islands.run.runner import Output, resume_asked, run_asked
from islands.run.series import Series
from islands.run.several import run_several

COSTS = {1: 103, 2: 101, 3: 106, 4: 101}
"""What runs end with, by their seeds."""


class Named(AnyOrder):
    """An instance called as it is asked for."""

    def __init__(self, name: str, _: str | None = None) -> None:
        super().__init__(BestKnown(101, "best_known", "") if name == "fake/a" else None)
        self.instance = name


class Seeded(FakeArchipelago):
    """Its best, and its digests, are known from the seed; it remembers who has begun."""

    begun: ClassVar[list[tuple[str, int]]] = []
    dies_with: ClassVar[int | None] = None
    signalled_at: ClassVar[tuple[int, int] | None] = None
    """The seed, and the generation from which it is in its epoch."""

    def __init__(self, *, problem: Named, seed: int, **_: Any) -> None:
        super().__init__()
        self.seed, self.name = seed, problem.instance

    def start(self) -> None:
        super().start()
        self.begun.append((self.name, self.seed))

    def advance(self, generations: int) -> None:
        if self.seed == self.dies_with:
            raise DeadError
        if (self.seed, self.generation) == self.signalled_at:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.2)
        super().advance(generations)

    def measure(self) -> list[Any]:
        return [replace(each, best=COSTS[self.seed] + each.island) for each in super().measure()]

    def best(self) -> Candidate:
        order = np.arange(5, dtype=np.int64)
        order[0] = COSTS[self.seed] - 100
        return Candidate(COSTS[self.seed], 0, order, order)

    def digests(self) -> list[tuple[int, str]]:
        return [(i, f"{10 * self.seed + i:064x}") for i in self.mine]


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("islands.run.islands_of.Archipelago", Seeded)
    monkeypatch.setattr(runner, "load", Named)
    monkeypatch.setattr(plan, "load", Named)
    monkeypatch.setattr(Seeded, "begun", [])


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let the run with seed 2 be killed, until this is undone."""
    with monkeypatch.context() as patched:
        patched.setattr(Seeded, "dies_with", 2)
        yield patched


def planned(*instances: str, runs: int = 2, **options: Any) -> Plan:
    options = {"backend": "cpu", "stop": "generations=100", **options}
    return Plan.of(instances, runs, options)


def done(
    *instances: str,
    runs: int = 2,
    out: str | None = "out",
    force: bool = False,
    quiet: bool = True,
    said: StringIO | None = None,
    conduct: Conduct | None = None,
    **options: Any,
) -> Series:
    folder = Path(out) if out is not None else None
    output = Output(True, folder, force, said or StringIO(), quiet)
    asked = planned(*instances, runs=runs, **options)
    return run_several(asked, World(), output, conduct or Conduct())


def rows(folder: str = "out") -> list[dict[str, str]]:
    with Path(folder, "runs.tsv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def entered() -> list[tuple[str, int]]:
    return [(row["instance"], int(row["seed"])) for row in rows()]


def test_instances_take_turns_with_each_seed() -> None:
    series = done("fake/a", "fake/b", runs=3)
    turns = [(name, seed) for seed in (1, 2, 3) for name in ("fake/a", "fake/b")]
    assert Seeded.begun == turns
    assert [(each.instance, each.seed) for each in series.results] == turns
    assert entered() == turns
    folders = sorted(path.name for path in Path("out").iterdir() if path.is_dir())
    assert folders == sorted(f"{name[5:]}-seed{seed}" for name, seed in turns)


def test_each_run_is_the_single_run_with_its_seed() -> None:
    series = done("fake/a", seed=2)
    output = Output(True, Path("alone"))
    options = {"backend": "cpu", "stop": "generations=100", "seed": 3}
    alone = run_asked(options, None, World(), output, Named("fake/a"))
    assert [each.seed for each in series.results] == [2, 3]
    assert series.results[1].digest == alone.digest != series.results[0].digest
    whole, single = Path("out/a-seed3/run.toml"), Path("alone/run.toml")
    named = single.read_text().replace('"demo/tsp"', '"fake/a"')
    assert whole.read_text() == named


def test_a_row_holds_the_run_and_all_its_settings() -> None:
    before = datetime.now().astimezone().replace(microsecond=0)
    result = done("fake/a", runs=1, rho="0.8").results[0]
    (row,) = rows()
    assert (row["cost"], row["solution"]) == ("103", "3 1 2 3 4")
    assert float(row["gap"]) == pytest.approx(200 / 101)
    assert (int(row["evaluations"]), float(row["seconds"])) == (result.evaluations, result.seconds)
    assert (row["backend"], row["device"]) == ("cpu", result.device)
    assert (row["generations"], row["reason"]) == ("100", "100 generations done")
    assert row["digest"] == result.digest
    assert before <= datetime.fromisoformat(row["started"]) <= datetime.now().astimezone()
    settings = json.loads(row["settings"])
    assert (settings["rho"], settings["stop"]) == (0.8, ["generations=100"])
    assert settings["migration"]["topology"] == "elite"


def test_what_is_unknown_is_empty_in_a_row() -> None:
    done("fake/b", runs=1)
    assert rows()[0]["gap"] == ""


def test_people_are_shown_each_run_and_the_table() -> None:
    said = StringIO()
    done("fake/a", "fake/b", runs=4, said=said, quiet=False)
    lines = said.getvalue().splitlines()
    assert lines[0] == "run 1 of 8: fake/a, seed 1"
    assert sum(line.startswith("Stopped: 100 generations") for line in lines) == 8
    assert [line.split()[:8] for line in lines[-4:-2]] == [
        ["fake/a", "4", "|", "101", "0.00%", "|", "102.8", "1.73%"],
        ["fake/b", "4", "|", "101", "-", "|", "102.8", "-"],
    ]
    assert lines[-1] == "Wrote out: runs.tsv, and a folder a run"


def test_quiet_is_a_line_a_run_and_the_table() -> None:
    said = StringIO()
    done("fake/a", "fake/b", said=said)
    lines = [line for line in said.getvalue().splitlines() if line]
    assert lines[0].startswith("fake/a seed 1: 103, gap 1.98%, 2.0k evaluations, ")
    assert [line.split(":")[0] for line in lines[:5]] == [
        *("fake/a seed 1", "fake/b seed 1", "fake/a seed 2", "fake/b seed 2"),
        "Hits",
    ]
    assert len(lines) == 4 + 2 + 2 + 1


def test_json_has_all_runs_and_what_they_come_to() -> None:
    whole = json.loads(done("fake/a", runs=4).to_json())
    assert [run["cost"] for run in whole["runs"]] == list(COSTS.values())
    assert whole["runs"][0]["solution"] == [3, 1, 2, 3, 4]
    assert (whole["best"], whole["mean"], whole["hits"]) == (101, 102.75, 2)
    assert whole["standard_deviation"] == pytest.approx(np.std([103, 101, 106, 101], ddof=1))
    assert len(whole["instances"]) == 1
    both = json.loads(done("fake/a", "fake/b", out="both").to_json())
    assert "best" not in both
    assert [each["instance"] for each in both["instances"]] == ["fake/a", "fake/b"]
    assert [each["hits"] for each in both["instances"]] == [1, None]


def test_a_series_without_a_folder_gets_a_fresh_one() -> None:
    first, second = (done("fake/a", out=None).folder for _ in range(2))
    assert first != second
    assert {first, second} == set(Path("runs").iterdir())
    assert first.name.startswith("several-")


def test_a_killed_series_keeps_its_rows_and_does_the_rest(dying: pytest.MonkeyPatch) -> None:
    said = StringIO()
    with pytest.raises(DeadError):
        done("fake/a", "fake/b", runs=3, said=said)
    assert entered() == [("fake/a", 1), ("fake/b", 1)]
    assert said.getvalue().endswith(
        "Ended after 2 of 6 runs. Go on with the same command and --out out\n"
    )
    kept = rows()
    dying.undo()
    Seeded.begun.clear()
    series = done("fake/a", "fake/b", runs=3)
    # That of fake/a was killed after its start, and has no checkpoint yet.
    assert Seeded.begun == [("fake/a", 2), ("fake/b", 2), ("fake/a", 3), ("fake/b", 3)]
    assert [each.cost for each in series.results] == [103, 103, 101, 101, 106, 106]
    assert rows()[:2] == kept
    assert len(rows()) == 6


def test_a_run_that_ended_unseen_gets_its_row() -> None:
    done("fake/a")
    kept = rows()
    lines = Path("out/runs.tsv").read_text().splitlines(keepends=True)
    Path("out/runs.tsv").write_text("".join(lines[:2]))
    Seeded.begun.clear()
    done("fake/a")
    assert Seeded.begun == []
    assert rows() == kept


def test_more_runs_are_added_to_those_there_are() -> None:
    done("fake/a", runs=1)
    series = done("fake/a", "fake/b", runs=2, threads=1)
    assert Seeded.begun == [("fake/a", 1), ("fake/b", 1), ("fake/a", 2), ("fake/b", 2)]
    assert [each.runs for each in series.standings] == [2, 2]
    assert len(rows()) == 4


def test_a_signal_ends_the_series_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    said = StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(Seeded, "signalled_at", (2, 0))
        series = done("fake/a", runs=3, said=said)
    assert (series.suspended, series.interrupted) == (True, False)
    assert [each.suspended for each in series.results] == [False, True]
    assert (series.standings[0].runs, entered()) == (1, [("fake/a", 1)])
    end = "Ended after 1 of 3 runs. Go on with the same command and --out out"
    assert said.getvalue().splitlines()[-1] == end
    assert json.loads(series.to_json())["suspended"] is True
    Seeded.begun.clear()
    again = done("fake/a", runs=3)
    assert not again.suspended
    # That of seed 2 went on from its checkpoint.
    assert Seeded.begun == [("fake/a", 3)]
    assert [each.generations for each in again.results] == [100, 100, 100]


def test_a_signal_that_comes_too_late_for_a_run_ends_the_series_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The last epoch begins at generation 50.
    monkeypatch.setattr(Seeded, "signalled_at", (2, 50))
    series = done("fake/a", runs=3)
    assert (series.suspended, series.interrupted) == (True, False)
    assert [each.suspended for each in series.results] == [False, False]
    assert entered() == [("fake/a", 1), ("fake/a", 2)]


def test_force_does_all_runs_anew() -> None:
    done("fake/a")
    Seeded.begun.clear()
    done("fake/a", force=True, stop="generations=70")
    assert Seeded.begun == [("fake/a", 1), ("fake/a", 2)]
    assert [row["generations"] for row in rows()] == ["70", "70"]


def test_runs_with_other_settings_are_refused_before_any_begins() -> None:
    done("fake/a")
    Seeded.begun.clear()
    with pytest.raises(UsageError, match="a-seed1 holds a run with other settings: stop, rho"):
        done("fake/b", "fake/a", stop="generations=99", rho=0.6)
    assert Seeded.begun == []
    assert not Path("out/b-seed1").exists()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("out/mine.txt", UsageError, "holds files, but no series of runs"),
        ("out/run.toml", UsageError, "holds files, but no series of runs"),
        ("out/runs.tsv", InputError, r"is no table of runs, whose columns are instance, gap"),
        ("out/a-seed2/mine.txt", UsageError, "a-seed2: holds files, but no run"),
        ("out/a-seed2", UsageError, "a-seed2: is a file"),
        ("out", UsageError, "out: is a file"),
    ],
)
def test_files_of_others_are_never_touched(
    name: str, error: type[Exception], message: str, force: bool
) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with pytest.raises(error, match=message):
        done("fake/a", force=force)
    assert path.read_text() == "mine"
    assert Seeded.begun == []


def test_what_cannot_be_a_series_is_refused() -> None:
    with pytest.raises(UsageError, match="fake/a is named twice"):
        planned("fake/a", "fake/b", "fake/a")
    with pytest.raises(UsageError, match="fake/a and other/a would both have the folder a-seed1"):
        planned("fake/a", "other/a")
    with pytest.raises(UsageError, match="--start with several instances"):
        planned("fake/a", "fake/b", start="a.tour")
    with pytest.raises(UsageError, match="seed=9223372036854775808: must be from 0 to"):
        planned("fake/a", seed=2**63 - 1)
    assert planned("fake/a", start="a.tour").runs == 2


def test_a_series_that_cannot_begin_leaves_nothing() -> None:
    with pytest.raises(InputError, match=r"none\.tour"):
        done("fake/a", out=None, start="none.tour")
    assert list(Path("runs").iterdir()) == []


def test_a_run_that_was_taken_further_by_hand_is_another_one() -> None:
    done("fake/a")
    output = Output(True, Path("out/a-seed2"))
    resume_asked(Path("out/a-seed2"), {"stop": "generations=150"}, World(), output)
    with pytest.raises(UsageError, match="a-seed2 holds a run with other settings: stop"):
        done("fake/a")


def test_without_checkpoints_what_is_not_in_the_table_begins_anew() -> None:
    done("fake/a")
    lines = Path("out/runs.tsv").read_text().splitlines(keepends=True)
    Path("out/runs.tsv").write_text("".join(lines[:2]))
    Seeded.begun.clear()
    done("fake/a", conduct=Conduct(asynchronous=True))
    assert Seeded.begun == [("fake/a", 2)]


def test_ranks_with_other_runs_are_refused() -> None:
    def one(world: World) -> Series:
        return run_several(planned("fake/a", runs=2 + world.rank), world, Output(True, Path("out")))

    with pytest.raises(UsageError, match="the ranks would make different series"):
        on_ranks(2, one)
    assert Seeded.begun == []
