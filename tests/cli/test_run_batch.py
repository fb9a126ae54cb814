"""`islands run --batch` solves many instances, and goes on with those that are left."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.campaign import batch
from islands.cli import main
from islands.errors import InputError

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
    assert main([*long_batch(folder), "--out", str(folder / "out"), "--quiet"]) == 0
    return folder


def long_batch(folder: Path) -> list[str]:
    line = ["run", str(folder / "tours" / "*"), "--batch", *SETTINGS, "--threads", "1"]
    return [*line, "--stop", "generations=100"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_ended_batch_goes_on_with_the_rest(
    number: int, status: int, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out, line = tmp_path / "out", [sys.executable, "-m", "islands", *long_batch(whole)]
    with subprocess.Popen([*line, "--out", str(out)], stdout=subprocess.DEVNULL) as process:
        for _ in range(600):
            if (out / "runs.jsonl").exists() and len((out / "runs.jsonl").read_text()) > 1000:
                break
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(30) == status
    done = rows(out)
    assert 0 < len(done) < 30
    assert main(["status", str(out)]) == 0
    assert "stopped: a batch at batch: " in capfd.readouterr().out
    assert main(["resume", str(out), "--quiet"]) == 0
    assert "30 of 30 done" in capfd.readouterr().out
    assert [row["instance"] for row in rows(out)][: len(done)] == [row["instance"] for row in done]
    assert sorted((row["instance"], row["cost"]) for row in rows(out)) == sorted(
        (row["instance"], row["cost"]) for row in rows(whole / "out")
    )


@contextmanager
def reading_batch(out: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a batch that reads names from a pipe, and end it."""
    line = [sys.executable, "-m", "islands", "run", "--batch", "-", *SETTINGS, "--out", str(out)]
    pipe = subprocess.PIPE
    with subprocess.Popen([*line, *words], stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def write(process: subprocess.Popen[str], *lines: object) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()


def answers(process: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    """Return the next results; they come although the pipe is open."""
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(count)]


def test_names_are_solved_as_they_come(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = [str(path) for path in write_tours(tmp_path / "tours", 6)]
    out = tmp_path / "out"
    with reading_batch(out, "--json") as process:
        write(process, "# tours", paths[0], paths[1], "")
        found = answers(process, 2)
        assert sorted(each["instance"] for each in found) == paths[:2]
        write(process, paths[2])
        found += answers(process, 1)
        write(process, paths[2], "no*tour", tmp_path / "tours" / "t00[3-4].tsp")
        found += answers(process, 2)
        write(process, "~nosuchuser/x", "a**b", "x" * 300)  # each has an error of its own
        assert process.stdin is not None
        process.stdin.write(paths[5])  # without an end of the line
        process.stdin.close()
        found += answers(process, 1)
        assert process.wait(30) == 1  # of the name that matches nothing
    assert [each["instance"] for each in found[2:3] + found[5:]] == [paths[2], paths[5]]
    assert (
        main(["run", *paths, "--batch", *SETTINGS, "--json", "--out", str(tmp_path / "all")]) == 0
    )
    listed = objects(capfd.readouterr().out)
    names = ("instance", "cost", "digest", "reason")
    assert sorted([each[name] for name in names] for each in found) == sorted(
        [each[name] for name in names] for each in listed
    )


def test_a_batch_that_waits_for_names_can_be_ended_and_resumed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = [str(path) for path in write_tours(tmp_path / "tours", 4)]
    out = tmp_path / "out"
    with reading_batch(out, "--json") as process:
        write(process, paths[0])
        answers(process, 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    with (out / "instances.jsonl").open("a") as stream:  # as if it had not been its turn
        stream.write(f"{json.dumps(paths[1])}\n{json.dumps(paths[2])[:-5]}")
    assert main(["resume", str(out), "--json"]) == 0
    assert [each["instance"] for each in objects(capfd.readouterr().out)] == paths[:2]
    with reading_batch(out, "--json") as process:
        said, _ = process.communicate("\n".join(paths[1:]))
        assert process.returncode == 0
    assert sorted(each["instance"] for each in objects(said)) == paths
    assert sorted(row["instance"] for row in rows(out)) == paths
    assert len((out / "runs.jsonl").read_text().splitlines()) == 4


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


def test_only_some_names_are_tried_before_the_first_is_solved(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[str]()

    def tries(*asked: Any) -> None:
        tried.append(str(asked))
        raise InputError("no file")

    monkeypatch.setattr(batch, "resolved", tries)
    names = [str(tmp_path / f"{number}.tsp") for number in range(50)]
    assert main(["run", *names, "--batch", *SETTINGS, "--out", str(tmp_path / "out")]) == 1
    assert "50 failed" in capfd.readouterr().out
    assert len(tried) == 20


def test_another_batch_does_not_go_on_in_a_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["run", "demo/tsp", "--batch", *SETTINGS, "--out", str(tmp_path / "out"), "--stop"]
    assert main([*line, "generations=2"]) == 0
    assert main([*line, "generations=3"]) == 2
    assert "contains a batch of other instances or settings" in capfd.readouterr().err
    assert main(["run", "demo/tour", *line[2:], "generations=2"]) == 2
    assert main([*line, "generations=3", "--force"]) == 0
    assert [row["reason"] for row in rows(tmp_path / "out")] == ["3 generations done"]


def test_a_script_that_a_folder_names_needs_trust(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", "demo/tsp", "--batch", *SETTINGS, "--out", str(out)]) == 0
    script = tmp_path / "mine.py"
    script.write_text("raise SystemExit('was run')\n")
    (out / "instances.jsonl").write_text(json.dumps(f"{script}:problem") + "\n")
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


def test_ranks_take_names_as_they_come(mpirun: list[str], tmp_path: Path) -> None:
    paths = [str(path) for path in write_tours(tmp_path / "tours", 5)]
    line = [sys.executable, "-m", "islands", "run", "-", "--batch", *SETTINGS, "--threads", "1"]
    command = [*mpirun, "2", *line, "--json", "--out", str(tmp_path / "out")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            write(process, paths[0])
            found = answers(process, 1)
            write(process, *paths[1:], "--")
            found += answers(process, 4)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert sorted(each["instance"] for each in found) == paths
    for each in found[:2]:
        alone = islands.solve(
            each["instance"], stop=["converged"], backend="cpu", islands=1, population=20
        )
        assert (alone.cost, alone.digest) == (each["cost"], each["digest"])
