"""`islands bench gpus`: numbers of ranks compared, in one command."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from results_for_tests import gpu_row

from islands.bench import GPU_INSTANCES, gpus
from islands.bench.base import BenchRequest
from islands.bench.gpus_rows import SPEED, TARGET, GpuRunRow, GpuSpeedRow, GpuTargetRow
from islands.bench.variants import Variant
from islands.cli import bench, main
from islands.parallel import world


def request(**options: Any) -> BenchRequest:
    usual: dict[str, Any] = {"limit": 0.2, "seeds": 1, "threads": 1, "of": ("demo/qap",)}
    return BenchRequest(world(), ["cpu"], **(usual | options))


def test_settings_are_those_of_the_most_gpus_or_of_each_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[int]()
    usual = Variant("default").resolved(gpus._loaded("demo/qap"), 1, {"backend": "cpu"})

    def resolved(_self: Variant, _problem: Any, _every: Any, options: Any) -> Any:
        asked.append(options["gpus"])
        return usual

    monkeypatch.setattr(Variant, "resolved", resolved)
    for own, expected in ((False, [4, 4, 4]), (True, [1, 2, 4])):
        asked.clear()
        problem = gpus._loaded("demo/qap")
        gpus._Case(request(own_defaults=own), problem, Variant("default"), 1, [1, 2, 4])
        assert asked == [each for each in expected for _ in (TARGET, SPEED)]


def test_runs_end_at_the_least_gap_and_keep_the_defaults_of_the_limit() -> None:
    case = gpus._Case(
        request(gap=(1.0, 0.001), limit=7.0), gpus._loaded("demo/tsp"), Variant("default"), 1, [1]
    )
    assert [each.text for each in case.spec(1, TARGET, 3).stop] == ["gap=0.001%", "seconds=7"]
    spec = case.spec(1, SPEED, 3, ["generations=9"])
    assert ([each.text for each in spec.stop], spec.general.seed) == (["generations=9"], 3)
    assert case.spec(1, TARGET, 3).record.every == 1
    assert spec.settings == case.spec(1, TARGET, 3).settings


def test_a_cost_that_waits_is_measured_in_speed_only() -> None:
    assert (gpus.SLEEP_SECONDS, gpus.SLEEP_SETTINGS["population"]) == (0.005, 256)
    options = {"variant": ("population=6",), "of": (gpus.SLEEP,), "stop": 2}
    rows = [*gpus.measure(request(**options))]
    kinds = {type(row) for row in rows}
    assert (GpuSpeedRow in kinds, GpuTargetRow in kinds) == (True, False)
    (run, *_) = (row for row in rows if isinstance(row, GpuRunRow))
    assert (run.population, run.islands, run.generations) == (6, 1, 2)
    assert run.seconds > 0.9 * (6 + 2 * 3) * gpus.SLEEP_SECONDS


def test_the_command_keeps_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    line = ["bench", "gpus", "demo/qap", "--gap", "5%,0%", "--limit", "0.3", "--seeds", "2"]
    line += ["--backend", "cpu", "--threads", "1", "--quiet", "--json", "--out", str(tmp_path)]
    assert main(line) == 0
    first = json.loads(capsys.readouterr().out)
    speed, *targets = (*first["gpus_speed"], *first["gpus_targets"])
    assert (speed["ranks"], speed["speed_up"], speed["digests"]) == (1, 1.0, "-")
    assert speed["evaluations_per_second"] > 0
    assert [each["target"] for each in targets] == ["5 %", "best known"]
    assert {"gpus.png", "gpus_runs.csv", "bench.json", "runs.jsonl"} <= {
        each.name for each in tmp_path.iterdir()
    }
    kept = (tmp_path / "runs.jsonl").read_bytes()
    assert main(line) == 0  # finds all runs
    assert json.loads(capsys.readouterr().out)["gpus_runs"] == first["gpus_runs"]
    assert (tmp_path / "runs.jsonl").read_bytes() == kept


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gpus nosuch", "unknown instance 'nosuch'"),
        ("gpus demo/qap --gap 1%,x", "argument --gap: '1%,x' must be numbers in per cent from 0"),
        ("gpus demo/qap --gap -1", "argument --gap: "),
        ("gpus demo/qap --gap nan", "argument --gap: 'nan' must be numbers in per cent from 0"),
        ("gpus demo/qap --stop seconds=5", "--stop: 'seconds=5' must be generations=N with N"),
        ("gpus demo/qap --stop generations=0", "--stop: 'generations=0' must be generations=N"),
        ("gpus demo/qap --variant seed=1", "--variant 'seed=1': seed is the same for all"),
        ("gpus demo/qap --of demo/tsp", "--of demo/tsp with demo/qap: both name instances."),
        ("quality --of demo/tsp --own-defaults", "--own-defaults: an option of gpus, but quality"),
        (
            "gpus demo/qap --rivals lkh",
            "--rivals: an option of quality and many, but gpus was asked for",
        ),
        ("qpus", "unknown benchmark 'qpus'"),
    ],
)
def test_wrong_options_are_refused(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *line.split(), "--backend", "cpu"]) == 2
    assert message in capsys.readouterr().err


def test_instances_follow_the_name_of_the_benchmark() -> None:
    assert bench._parted(["quality", "gpus", "a", "tabu", "b.py:c"]) == (
        ["quality", "gpus", "tabu"],
        ["a", "b.py:c"],
    )
    assert bench._parted(["tabu", "nosuch"]) == (["tabu", "nosuch"], [])
    assert gpus.SLEEP in GPU_INSTANCES


@pytest.mark.mpi(min_size=2)
def test_all_numbers_of_ranks_have_the_same_solutions() -> None:
    ranks = world()
    rows = [*gpus.measure(request(stop=3, variant=("islands=1 population=8",)))]
    assert ranks.allgather(rows) == [rows] * ranks.size
    sizes = sorted({1, 2, ranks.size})
    speed = [row for row in rows if isinstance(row, GpuSpeedRow)]
    assert [(row.ranks, row.digests) for row in speed] == [
        (each, "-" if each == 1 else "same") for each in sizes
    ]
    runs = [row for row in rows if isinstance(row, GpuRunRow) and row.purpose == SPEED]
    assert [row.ranks for row in runs] == sizes
    assert len({row.digest for row in runs}) == 1
    for row in runs:
        assert 0 <= row.exchange + row.migration + row.waiting + row.idle <= 1 + 1e-9


@pytest.mark.mpi(min_size=2)
def test_other_ranks_wait_without_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = world()

    def slept(_spec: Any, _problem: Any, part: Any, _options: Any) -> dict[str, Any]:
        time.sleep(2.0 if part.size == 1 else 0.0)
        row = asdict(gpu_row(part.size, 1.0))
        given = {"backend", "method", "seed", "limit", "purpose", "settings", "instance", "group"}
        given |= {"size", "constraints", "maximise", "reference", "is_known"}
        return {name: value for name, value in row.items() if name not in given}

    monkeypatch.setattr(gpus, "ran", slept)
    found = gpus.measure(request(stop=1))
    began, used = time.perf_counter(), time.process_time()
    next(found)
    took, used = time.perf_counter() - began, time.process_time() - used
    assert took > 2
    assert ranks.rank == 0 or used < 0.7
