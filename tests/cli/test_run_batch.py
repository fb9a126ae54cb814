"""`islands run --batch` solves many instances, and goes on with those that are left."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.cli import main

SETTINGS = ["--backend", "cpu", "--islands", "1", "--population", "20"]


def write_tours(folder: Path, count: int, size: int = 20) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(count):
        places = np.random.default_rng(number).integers(0, 1000, (size, 2)).tolist()
        rows = "\n".join(f"{place + 1} {x} {y}" for place, (x, y) in enumerate(places))
        head = f"NAME: t{number}\nTYPE: TSP\nDIMENSION: {size}\nEDGE_WEIGHT_TYPE: EUC_2D"
        paths.append(folder / f"t{number:03}.tsp")
        paths[-1].write_text(f"{head}\nNODE_COORD_SECTION\n{rows}\nEOF\n")
    return paths


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "batch.tsv").open(newline="") as stream:
        return [*csv.DictReader(stream, delimiter="\t")]


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_folder_of_instances_has_a_row_for_each(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = write_tours(tmp_path / "tours", 5)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "tours"), "--batch", *SETTINGS, "--out", str(out)]) == 0
    said = capfd.readouterr().out
    assert "batch: 5 of 5 done" in said
    found = {row["instance"]: int(row["cost"]) for row in rows(out)}
    for path in paths:
        alone = islands.solve(
            path, stop=["converged", "seconds=10"], backend="cpu", islands=1, population=20
        )
        assert found[str(path)] == alone.cost
    assert main(["run", *map(str, paths), "--batch", *SETTINGS, "--out", str(out)]) == 0
    assert "0 runs of 5 to do" in capfd.readouterr().out


def test_json_has_a_line_for_each_instance(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_tours(tmp_path / "tours", 3)
    given = tmp_path / "list.txt"
    given.write_text(f"# tours\n{paths[0]}\n\n{tmp_path}/tours/t00[12].tsp\n")
    monkeypatch.chdir(tmp_path)
    line = ["run", f"@{given}", "--batch", *SETTINGS, "--runs", "2", "--seed", "7", "--json"]
    assert main(line) == 0
    found = objects(capfd.readouterr().out)
    assert sorted((each["instance"], each["seed"]) for each in found) == [
        (str(path), seed) for path in paths for seed in (7, 8)
    ]
    problem = islands.load(paths[0])
    for each in found:
        if each["instance"] == str(paths[0]):
            assert problem.cost(np.array(each["solution"])) == each["cost"]


def test_the_first_seed_may_come_from_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths, config = write_tours(tmp_path / "tours", 2), tmp_path / "settings.toml"
    config.write_text("seed = 5\n")
    line = ["run", *map(str, paths), "--batch", *SETTINGS, "--config", str(config), "--json"]
    assert main([*line, "--out", str(tmp_path / "out")]) == 0
    assert [each["seed"] for each in objects(capfd.readouterr().out)] == [5, 5]


def test_a_pattern_matches_names_of_the_catalogue(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["run", "demo/[mq]*", "--batch", "--backend", "cpu", "--stop", "generations=2", "--json"]
    assert main([*line, "--out", str(tmp_path / "out")]) == 0
    found = {each["instance"]: each["problem"] for each in objects(capfd.readouterr().out)}
    assert found == {"demo/qap": "qap", "demo/mkp": "mkp"}


def test_a_damaged_file_is_one_line_and_the_others_are_solved(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = write_tours(tmp_path / "tours", 4)
    whole = paths[1].read_text()
    paths[1].write_text(whole.replace("TYPE: TSP", "TYPE: TSP\nDIMENSION: x"))
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "tours"), "--batch", *SETTINGS, "--out", str(out)]) == 1
    said = capfd.readouterr().out
    assert said.count(f"islands: {paths[1]}") == 1
    assert "3 of 4 done, 1 failed" in said
    assert len(rows(out)) == 3
    paths[1].write_text(whole)
    assert main(["resume", str(out)]) == 0
    assert "1 run of 4 to do" in capfd.readouterr().out
    assert len(rows(out)) == 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with instances, `tours`, and their batch without interruption, `out`."""
    folder = tmp_path_factory.mktemp("whole")
    write_tours(folder / "tours", 30, 60)
    line = [*long_batch(folder / "tours"), "--out", str(folder / "out"), "--quiet"]
    subprocess.run(line, check=True, capture_output=True)
    return folder


def long_batch(tours: Path) -> list[str]:
    line = [sys.executable, "-m", "islands", "run", str(tours), "--batch", *SETTINGS]
    return [*line, "--stop", "generations=300", "--threads", "1"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_ended_batch_goes_on_with_the_rest(
    number: int, status: int, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, line = tmp_path / "out", long_batch(whole / "tours")
    with subprocess.Popen([*line, "--out", str(out)], stdout=subprocess.DEVNULL) as process:
        for _ in range(600):
            if (out / "runs.jsonl").exists() and len((out / "runs.jsonl").read_text()) > 1000:
                break
            time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(30) == status
    done = len(rows(out))
    assert 0 < done < 30
    assert main(["status", str(out)]) == 0
    assert "stopped: a batch at batch: " in capsys.readouterr().out
    again = subprocess.run(
        [sys.executable, "-m", "islands", "resume", str(out), "--quiet"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "30 of 30 done" in again.stdout
    assert sorted((row["instance"], row["cost"]) for row in rows(out)) == sorted(
        (row["instance"], row["cost"]) for row in rows(whole / "out")
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "--batch: no instances"),
        (["no*city"], "no*city: matches no file and no instance of the catalogue"),
        (["demo/tsp", "--plot"], "--plot with --batch: is for single runs"),
        (["demo/tsp", "--async"], "--async with --batch: is for single runs"),
        (["demo/tsp", "--algorithm", "nothing"], "algorithm"),
    ],
)
def test_wrong_batches_are_refused(
    words: list[str], error: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out"), "--backend", "cpu"]
    assert main(["run", "--batch", *words, *out]) == 2
    assert error in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


def test_another_batch_does_not_go_on_in_a_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["run", "demo/tsp", "--batch", *SETTINGS, "--out", str(tmp_path / "out"), "--stop"]
    assert main([*line, "generations=2"]) == 0
    assert main([*line, "generations=3"]) == 2
    assert "contains a batch of other instances or settings" in capfd.readouterr().err
    assert main([*line, "generations=3", "--force"]) == 0
    assert [row["reason"] for row in rows(tmp_path / "out")] == ["3 generations done"]


def test_a_script_that_a_folder_names_needs_trust(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", "demo/tsp", "--batch", *SETTINGS, "--out", str(out)]) == 0
    kept = json.loads((out / "batch.json").read_text())
    script = tmp_path / "mine.py"
    script.write_text("raise SystemExit('was run')\n")
    (out / "batch.json").write_text(json.dumps({**kept, "instances": [f"{script}:problem"]}))
    assert main(["resume", str(out)]) == 2
    assert "names scripts that you have not named" in capfd.readouterr().err


@pytest.mark.parametrize("number", [2, 3])
def test_ranks_share_a_batch(mpirun: list[str], number: int, tmp_path: Path) -> None:
    write_tours(tmp_path / "tours", 7)
    line = ["run", str(tmp_path / "tours"), "--batch", *SETTINGS, "--threads", "1", "--quiet"]
    assert main([*line, "--out", str(tmp_path / "one")]) == 0
    command = [*mpirun, str(number), sys.executable, "-m", "islands", *line]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "many"), "--json"], check=True, capture_output=True
    )
    names = ("instance", "cost", "evaluations", "reason")
    one, many = (
        sorted(tuple(row[name] for name in names) for row in rows(tmp_path / each))
        for each in ("one", "many")
    )
    assert one == many
    assert len(objects(done.stdout.decode())) == 7
