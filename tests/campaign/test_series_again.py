"""Series that were interrupted, and continue or start again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fakes import DeadError
from series_for_tests import Seeded, done, entered, pretend, rows

from islands.errors import InputError, UnwritableError, UsageError
from islands.parallel import World
from islands.record.parquet import write_parquet
from islands.run.build import RankOptions
from islands.run.runner import resume_requested
from islands.run.single import Output


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(monkeypatch, tmp_path)


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Kill the run with seed 2, until `undo` is called."""
    with monkeypatch.context() as patched:
        patched.setattr(Seeded, "dies_with", 2)
        yield patched


@pytest.mark.parametrize("fails_at", [1, 2])
def test_a_run_that_could_not_be_written_is_not_done(
    fails_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_killed_series_keeps_its_rows_and_does_the_remaining_runs(
    dying: pytest.MonkeyPatch,
) -> None:
    said = StringIO()
    with pytest.raises(DeadError):
        done("fake/a", "fake/b", runs=3, said=said)
    assert entered() == [("fake/a", 1), ("fake/b", 1)]
    assert said.getvalue().endswith(
        "Ended after 2 of 6 runs. To continue, repeat the command with --out out\n"
    )
    kept = rows()
    dying.undo()
    Seeded.begun.clear()
    series = done("fake/a", "fake/b", runs=3)
    # The run of fake/a was killed at its start, before its first checkpoint.
    assert Seeded.begun == [("fake/a", 2), ("fake/b", 2), ("fake/a", 3), ("fake/b", 3)]
    assert [each.cost for each in series.results] == [103, 103, 101, 101, 106, 106]
    assert rows()[:2] == kept
    assert len(rows()) == 6


def test_a_run_that_finished_without_a_row_gets_one() -> None:
    done("fake/a")
    kept = rows()
    lines = Path("out/runs.tsv").read_text().splitlines(keepends=True)
    Path("out/runs.tsv").write_text("".join(lines[:2]))
    Seeded.begun.clear()
    done("fake/a")
    assert Seeded.begun == []
    assert rows() == kept


def test_a_series_can_be_extended() -> None:
    done("fake/a", runs=1)
    series = done("fake/a", "fake/b", runs=2, threads=1)
    assert Seeded.begun == [("fake/a", 1), ("fake/b", 1), ("fake/a", 2), ("fake/b", 2)]
    assert [each.runs for each in series.summaries] == [2, 2]
    assert len(rows()) == 4


def test_a_signal_ends_the_series_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    said = StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(Seeded, "signalled_at", (2, 0))
        series = done("fake/a", runs=3, said=said)
    assert (series.suspended, series.interrupted) == (True, False)
    assert [each.suspended for each in series.results] == [False, True]
    assert (series.summaries[0].runs, entered()) == (1, [("fake/a", 1)])
    end = "Ended after 1 of 3 runs. To continue, repeat the command with --out out"
    assert said.getvalue().splitlines()[-1] == end
    assert json.loads(series.to_json())["suspended"] is True
    Seeded.begun.clear()
    again = done("fake/a", runs=3)
    assert not again.suspended
    # The run with seed 2 was resumed from its checkpoint.
    assert Seeded.begun == [("fake/a", 3)]
    assert [each.generations for each in again.results] == [100, 100, 100]


def test_a_signal_at_the_end_of_a_run_ends_the_series_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The last epoch begins at generation 50.
    monkeypatch.setattr(Seeded, "signalled_at", (2, 50))
    series = done("fake/a", runs=3)
    assert (series.suspended, series.interrupted) == (True, False)
    assert [each.suspended for each in series.results] == [False, False]
    assert entered() == [("fake/a", 1), ("fake/a", 2)]


def test_force_repeats_all_runs() -> None:
    done("fake/a")
    Seeded.begun.clear()
    done("fake/a", force=True, stop="generations=70")
    assert Seeded.begun == [("fake/a", 1), ("fake/a", 2)]
    assert [row["generations"] for row in rows()] == ["70", "70"]


def test_runs_with_other_settings_are_refused_before_any_begins() -> None:
    done("fake/a")
    Seeded.begun.clear()
    with pytest.raises(UsageError, match="a-seed1 contains a run with other settings: stop, rho"):
        done("fake/b", "fake/a", stop="generations=99", rho=0.6)
    assert Seeded.begun == []
    assert not Path("out/b-seed1").exists()


def test_a_run_that_was_extended_separately_is_refused() -> None:
    done("fake/a")
    output = Output(True, Path("out/a-seed2"))
    resume_requested(Path("out/a-seed2"), {"stop": "generations=150"}, World(), output)
    with pytest.raises(UsageError, match="a-seed2 contains a run with other settings: stop"):
        done("fake/a")


def test_without_checkpoints_unfinished_runs_start_again() -> None:
    done("fake/a")
    lines = Path("out/runs.tsv").read_text().splitlines(keepends=True)
    Path("out/runs.tsv").write_text("".join(lines[:2]))
    lines = Path("out/runs.jsonl").read_text().splitlines(keepends=True)
    Path("out/runs.jsonl").write_text(lines[0])
    Seeded.begun.clear()
    done("fake/a", rank_options=RankOptions(asynchronous=True))
    assert Seeded.begun == [("fake/a", 2)]


def test_a_changed_row_is_named() -> None:
    done("fake/a")
    table = Path("out/runs.tsv")
    content = table.read_text()
    # One bit of the cost in the second row.
    table.write_text(content.replace("\t102\t", "\t106\t").replace("\t103\t", "\t107\t"))
    assert table.read_text() != content
    with pytest.raises(InputError, match=r"out/runs\.tsv: line 2: checksum mismatch.* Remove the"):
        done("fake/a")
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:1]))
    done("fake/a")
    assert table.read_text() == content


@pytest.mark.parametrize("content", ["", "\n", "instance", "\0", '"', "\tno table\n"])
def test_other_tables_are_refused(content: str) -> None:
    done("fake/a")
    Path("out/runs.tsv").write_text(content)
    with pytest.raises(InputError, match=r"out/runs\.tsv: (is not a table of runs|is damaged)"):
        done("fake/a")


def test_a_changed_result_ends_the_series() -> None:
    done("fake/a")
    path = Path("out/a-seed2/solution.parquet")
    content = bytearray(path.read_bytes())
    content[content.index(b'"cost": 1') + len(b'"cost": ')] ^= 2
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"a-seed2/solution\.parquet: .*Remove solution\.parquet and"
    ):
        done("fake/a")


def test_a_series_of_an_earlier_version_goes_on() -> None:
    done("fake/a")
    kept, ledger = rows(), Path("out/runs.jsonl")
    ledger.unlink()  # it had no ledger, only the table
    Seeded.begun.clear()
    done("fake/a", runs=3)
    assert Seeded.begun == [("fake/a", 3)]
    assert rows()[:2] == kept
    asked = [json.loads(line)["asked"] for line in ledger.read_text().splitlines()]
    assert asked == [{"instance": "fake/a", "seed": seed} for seed in ("1", "2", "3")]


def test_the_table_is_made_again_from_the_ledger() -> None:
    done("fake/a")
    content = Path("out/runs.tsv").read_bytes()
    # A process that is killed between the two files leaves a table without the last row.
    Path("out/runs.tsv").write_bytes(b"".join(content.splitlines(keepends=True)[:2]))
    done("fake/a")
    assert Path("out/runs.tsv").read_bytes() == content


def test_a_changed_line_of_the_ledger_is_named() -> None:
    done("fake/a")
    ledger = Path("out/runs.jsonl")
    ledger.write_text(ledger.read_text().replace('"cost": "101"', '"cost": "100"'))
    Seeded.begun.clear()
    with pytest.raises(InputError, match=r"out/runs\.jsonl:2: is damaged \(checksum mismatch"):
        done("fake/a", runs=3)
    assert Seeded.begun == []
