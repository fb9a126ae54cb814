"""`islands run --batch` solves many instances, and `islands resume` the remaining ones."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands_for_tests import Capture, rows_of, write_tours
from jobs import PROGRAM

import islands
from islands.cells.batch import BatchPlan
from islands.cells.store import content_digest
from islands.cli import main

SETTINGS = ["--backend", "cpu", "--islands", "1", "--population", "20"]


def rows() -> list[dict[str, str]]:
    return rows_of("out/batch.tsv")


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def alone(path: str) -> islands.Result:
    return islands.solve(path, stop=["converged"], backend="cpu", islands=1, population=20)


def test_a_folder_of_instances_has_a_row_for_each(capfd: Capture) -> None:
    paths = write_tours(5)
    assert main(["run", "tours", "--batch", *SETTINGS, "--out", "out"]) == 0
    assert "batch: 5 of 5 done" in capfd.readouterr().out
    found = {row["instance"]: int(row["cost"]) for row in rows()}
    assert found == {path: alone(path).cost for path in paths}
    assert main(["run", *paths, "--batch", *SETTINGS, "--out", "out"]) == 0
    assert "0 of 5 runs left" in capfd.readouterr().out


@pytest.mark.slow
def test_json_has_a_line_for_each_instance(capfd: Capture) -> None:
    paths = write_tours(3)
    Path("list.txt").write_text(f"# tours\n{paths[0]}\n\ntours/t00[12].tsp\ndemo/[mq]*\n")
    line = ["run", "@list.txt", "--batch", *SETTINGS, "--runs", "2", "--json"]
    Path("settings.toml").write_text("seed = 7\n")
    assert main([*line, "--config", "settings.toml", "--stop", "generations=2"]) == 0
    found = objects(capfd.readouterr().out)
    assert sorted((each["instance"], each["seed"]) for each in found) == sorted(
        (path, seed) for path in [*paths, "demo/qap", "demo/mkp"] for seed in (7, 8)
    )
    problem = islands.load(paths[0])
    for each in found:
        if each["instance"] == paths[0]:
            assert problem.cost(np.array(each["solution"])) == each["cost"]


def test_a_damaged_file_is_one_line_and_the_others_are_solved(capfd: Capture) -> None:
    damaged = Path(write_tours(4)[1])
    whole = damaged.read_text()
    damaged.write_text(whole.replace("TYPE : TSP", "TYPE : TSP\nDIMENSION: x"))
    assert main(["run", "tours", "--batch", *SETTINGS, "--out", "out"]) == 1
    said = capfd.readouterr().out
    assert said.count(f"islands: {damaged}") == 1
    assert "3 of 4 done, 1 failed" in said
    assert len(rows()) == 3
    damaged.write_text(whole)
    assert main(["resume", "out"]) == 0
    assert "1 of 4 runs left" in capfd.readouterr().out
    assert len(rows()) == 4


def test_a_batch_continues_only_where_its_paths_are(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    paths = [Path(path) for path in write_tours(2)]
    second = paths[1].read_text()
    paths[1].write_text("damaged")
    line = ["run", *map(str, paths), "--batch", *SETTINGS, "--out"]
    assert main([*line, "out"]) == 1
    paths[1].write_text(second)
    Path("elsewhere").mkdir()
    with monkeypatch.context() as patch:
        patch.chdir("elsewhere")
        write_tours(2, cities=10)  # other instances with the same relative paths
        assert main(["resume", "../out"]) == 2
        assert main([*line, "../out"]) == 2
        assert capfd.readouterr().err.count("where the batch began") == 2
    assert main(["resume", "out"]) == 0
    assert {row["instance"]: int(row["cost"]) for row in rows()} == {
        str(path): alone(str(path)).cost for path in paths
    }


def test_a_batch_of_a_script_continues_only_where_the_script_is(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    script = "import islands\nproblem = islands.tsp(distances=[[0, 1, 2], [1, 0, 3], [2, 3, 0]])\n"
    Path("own.py").write_text(script)
    assert main(["run", "own.py:problem", "--batch", *SETTINGS, "--out", "out"]) == 0
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    capfd.readouterr()
    assert main(["resume", "../out", "--trust"]) == 2
    assert "own.py:problem is relative to" in capfd.readouterr().err


def test_a_batch_of_published_instances_continues_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["run", "demo/mkp", "--batch", *SETTINGS, "--stop", "generations=2", "--out"]
    out = Path("out").absolute()
    assert main([*line, "out"]) == 0
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert main(["resume", str(out)]) == main([*line, str(out)]) == 0


def test_the_byte_order_mark_of_a_list_is_no_part_of_a_name() -> None:
    paths = write_tours(2)
    Path("list.txt").write_text("\ufeff" + "\r\n".join(paths), newline="")
    for out, source in enumerate(["@list.txt", "-"]):
        with Path("list.txt").open() as stream:
            line = [*PROGRAM, "run", source, "--batch", *SETTINGS, "--out", str(out)]
            assert subprocess.run(line, stdin=stream, timeout=60).returncode == 0
        assert sorted(row["instance"] for row in rows_of(f"{out}/batch.tsv")) == paths


def test_a_line_that_no_path_can_be_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("list.txt").write_text(f"demo/mkp\n{'x' * 300}\n")
    assert main(["run", "@list.txt", "--batch", *SETTINGS]) == 2
    assert capsys.readouterr().err.startswith(f"islands: {'x' * 300}: ")


def test_settings_are_checked_by_the_first_file_that_can_be_read(capfd: Capture) -> None:
    Path(write_tours(2)[0]).write_text("damaged")
    line = ["run", "tours", "--batch", "--runs", "20", "--encoding", "bits"]
    assert main([*line, "--backend", "cpu", "--out", "out"]) == 2
    assert "encoding" in capfd.readouterr().err
    assert not Path("out").exists()


@contextmanager
def reading_batch(*launcher: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a batch that reads names from a pipe, and end it."""
    line = [*launcher, *PROGRAM, "run", "--batch", "-", *SETTINGS, "--threads", "1"]
    line += ["--out", "out", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def write(process: subprocess.Popen[str], *lines: object) -> None:
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()


def answers(process: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    """Return the next results, which are written while the pipe is open."""
    return [json.loads(process.stdout.readline()) for _ in range(count)]


@pytest.mark.slow
def test_names_are_solved_as_they_come() -> None:
    paths = write_tours(6)
    with reading_batch() as process:
        write(process, "# tours", paths[0], paths[1], "")
        found = answers(process, 2)
        assert sorted(each["instance"] for each in found) == paths[:2]
        write(process, paths[2])
        found += answers(process, 1)
        write(process, paths[2], "no*tour", "tours/t00[3-4].tsp")
        found += answers(process, 2)
        write(process, "~nosuchuser/x", "a**b", "x" * 300)  # each has an error of its own
        process.stdin.write(paths[5])  # without an end of the line
        process.stdin.close()
        found += answers(process, 1)
        assert process.wait(30) == 1  # of the name that matches nothing
    assert [each["instance"] for each in found[2:3] + found[5:]] == [paths[2], paths[5]]
    for each in found:
        run = alone(each["instance"])
        assert (run.cost, run.digest, run.reason) == (each["cost"], each["digest"], each["reason"])


@pytest.mark.slow
def test_a_batch_that_waits_for_names_can_be_ended_and_resumed(capfd: Capture) -> None:
    paths = write_tours(4)
    with reading_batch() as process:
        write(process, paths[0])
        answers(process, 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    with Path("out/instances.jsonl").open("a") as stream:  # as if it had not been its turn
        stream.write(f"{json.dumps(paths[1])}\n{json.dumps(paths[2])[:-5]}")
    assert main(["resume", "out", "--json"]) == 0
    assert [each["instance"] for each in objects(capfd.readouterr().out)] == paths[:2]
    with reading_batch() as process:
        said, _ = process.communicate("\n".join(paths[1:]))
        assert process.returncode == 0
    assert sorted(each["instance"] for each in objects(said)) == paths
    assert sorted(row["instance"] for row in rows()) == paths
    assert len(Path("out/runs.jsonl").read_text().splitlines()) == 4


def test_another_batch_does_not_go_on_in_a_folder() -> None:
    line = ["run", "demo/tsp", "--batch", *SETTINGS, "--out", "out", "--stop"]
    assert main([*line, "generations=2"]) == 0
    assert main([*line, "generations=3"]) == 2
    assert main(["run", "demo/tour", *line[2:], "generations=2"]) == 2
    assert main([*line, "generations=3", "--force"]) == 0
    assert [row["reason"] for row in rows()] == ["3 generations done"]


def test_a_result_of_an_instance_that_has_changed_is_not_reused(capfd: Capture) -> None:
    paths = write_tours(2)
    line = ["run", "tours", "--batch", *SETTINGS, "--out", "out"]
    assert main(line) == 0
    before = Path(paths[1]).read_text()
    Path(paths[1]).write_text(Path(paths[0]).read_text())
    for again in (line, ["resume", "out"]):
        capfd.readouterr()
        assert main(again) == 2
        assert f"out: contains the result of {paths[1]}, whose file" in capfd.readouterr().err
    Path(paths[1]).write_text(before)
    assert main(line) == 0
    assert "0 of 2 runs left" in capfd.readouterr().out


def test_a_file_that_changes_during_its_run_has_the_digest_from_before(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    path, other = map(Path, write_tours(2))
    line = ["run", str(path), "--batch", *SETTINGS, "--out", "out"]
    value_of = BatchPlan.value_of

    def changing(plan: BatchPlan, *run: Any) -> Any:
        path.write_text(other.read_text())
        return value_of(plan, *run)

    with monkeypatch.context() as patch:
        patch.setattr(BatchPlan, "value_of", changing)
        assert main(line) == 0
    assert main(line) == 2
    assert f"out: contains the result of {path}, whose file" in capfd.readouterr().err


def test_results_without_a_digest_are_reused(capfd: Capture) -> None:
    line = ["run", *write_tours(2), "--batch", *SETTINGS, "--out", "out"]
    assert main(line) == 0
    store = Path("out/runs.jsonl")
    results = [json.loads(row) for row in store.read_text().splitlines()]
    for result in results:
        del result["sha256"]
        assert result["result"].pop("content")
    whole = [result | {"sha256": content_digest(result)} for result in results]
    store.write_text("".join(json.dumps(result) + "\n" for result in whole))
    capfd.readouterr()
    assert main(line) == 0
    assert "0 of 2 runs left" in capfd.readouterr().out


def test_a_batch_with_another_content_of_its_configuration_is_another(capfd: Capture) -> None:
    write_tours(1)
    line = ["run", "tours", "--batch", *SETTINGS, "--config", "a.toml", "--out", "out"]
    Path("a.toml").write_text("seed = 7\n")
    assert main(line) == 0
    Path("a.toml").write_text("seed = 8\n")
    for again in (line, ["resume", "out"]):
        assert main(again) == 2
        assert "out: contains a batch of other" in capfd.readouterr().err
