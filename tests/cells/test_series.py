"""Series of runs: their order and records, and how they continue after an interruption."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from series_for_tests import Seeded, done, entered, planned, pretend, rows

from islands.cells.series import Series, run_series
from islands.engine.single import Output
from islands.errors import InputError, UnwritableError, UsageError
from islands.parallel import World
from islands.record.parquet import write_parquet
from islands.testing.ranks import on_ranks


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(monkeypatch, tmp_path)


def test_all_instances_run_with_one_seed_before_the_next() -> None:
    series = done("fake/a", "fake/b", runs=3)
    turns = [(name, seed) for seed in (1, 2, 3) for name in ("fake/a", "fake/b")]
    assert Seeded.begun == turns
    assert [(each.instance, each.seed) for each in series.results] == turns
    assert entered() == turns
    folders = sorted(path.name for path in Path("out").iterdir() if path.is_dir())
    assert folders == sorted(f"{name[5:]}-seed{seed}" for name, seed in turns)


def test_a_series_that_cannot_begin_leaves_no_files() -> None:
    with pytest.raises(InputError, match=r"none\.tour"):
        done("fake/a", out=None, start="none.tour")
    assert list(Path("runs").iterdir()) == []


def test_a_run_that_could_not_be_written_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    fails_at = 2
    written = list[Path]()

    def failing(path: Path, *arguments: Any) -> None:
        written.append(path)
        if len(written) == fails_at:
            raise UnwritableError(f"{path}: full")
        write_parquet(path, *arguments)

    monkeypatch.setattr("islands.record.solution.write_parquet", failing)
    said = StringIO()
    done("fake/a", runs=3, said=said)
    assert f"after {fails_at - 1} of 3 runs" in said.getvalue()


def test_a_run_that_finished_without_a_row_gets_one() -> None:
    done("fake/a")
    kept = rows()
    lines = Path("out/runs.tsv").read_text().splitlines(keepends=True)
    Path("out/runs.tsv").write_text("".join(lines[:2]))
    Seeded.begun.clear()
    done("fake/a")
    assert Seeded.begun == []
    assert rows() == kept


def test_runs_with_other_settings_are_rejected_before_any_begins() -> None:
    done("fake/a")
    Seeded.begun.clear()
    with pytest.raises(UsageError, match="stop, rho"):
        done("fake/b", "fake/a", stop="generations=99", rho=0.6)
    assert Seeded.begun == []
    assert not Path("out/b-seed1").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("runs.jsonl", b'"cost": "101"', b'"cost": "100"', r"runs\.jsonl:2"),
        ("a-seed2/solution.parquet", b'"cost": 1', b'"cost": 3', r"solution\.parquet"),
    ],
)
def test_changed_files_are_named(file: str, old: bytes, new: bytes, named: str) -> None:
    done("fake/a")
    path = Path("out", file)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    Seeded.begun.clear()
    with pytest.raises(InputError, match=named):
        done("fake/a", runs=3)
    assert Seeded.begun == []


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "name", ["out/mine.txt", "out/run.toml", "out/runs.tsv", "out/a-seed2/mine.txt", "out"]
)
def test_foreign_files_are_never_changed(name: str, force: bool) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with pytest.raises((UsageError, InputError)):
        done("fake/a", force=force)
    assert path.read_text() == "mine"
    assert Seeded.begun == []


@pytest.mark.parametrize("differ", [{"runs": 1}, {"out": 1}])
def test_ranks_with_different_runs_are_rejected(differ: dict[str, int]) -> None:
    def one(world: World) -> Series:
        number = dict.fromkeys(differ, world.rank)
        out = Path(f"out{number.get('out', 0)}")
        return run_series(
            planned("fake/a", runs=2 + number.get("runs", 0)), world, Output(True, out)
        )

    with pytest.raises(UsageError, match="rank 1 of 2 differs"):
        on_ranks(2, one)
    assert Seeded.begun == []
