"""`islands resume` on the CPU: a resumed run equals an uninterrupted one."""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands_for_tests import Capture, Patch, done
from jobs import PROGRAM, ran, wait_until
from starts_for_tests import rows

import islands
from islands.cli import main
from islands.configuration.spec import SIGN

RUN = ["--population", "32", "--islands", "6", "--interval", "8", "--backend", "cpu"]
RUN += ["--set", "record.every=5", "--threads", "1", "--seed", "3", "--improver", "none"]
ENDLESS = ["run", "demo/tsp", *RUN, "--stop", "generations=1000000", "--out", "a"]
ENDLESS += ["--set", "checkpoint.every=0.02"]
KILLS = Path(__file__).parents[1] / "kills"


def manifests() -> set[Path]:
    return set(Path("a").glob("checkpoints/*/manifest.json"))


def begun(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a run and wait for its first checkpoints."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: len(manifests()) > 1, process)
    return process


def require_uninterrupted(capsys: Capture, result: dict[str, Any], ranks: int) -> None:
    stop = f"generations={result['generations']}"
    whole = done(capsys, "run", "demo/tsp", *RUN, "--stop", stop, "--out", "b")
    for key in ("digest", "cost", "solution", "island", "best_generation", "evaluations", "reason"):
        assert result[key] == whole[key]
    for name in ("trace", "migrations"):
        assert rows(Path("a"), name) == rows(Path("b"), name)
        files = sorted(path.name for path in Path("a", name).iterdir())
        assert files == [f"rank-{rank:03}.parquet" for rank in range(ranks)]


def beyond() -> str:
    """Return a generation shortly after the last checkpoint at which no epoch ends."""
    newest = max(int(path.parent.name.partition(".")[0]) for path in manifests())
    return f"generations={newest + 43}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status", "word"),
    [
        (signal.SIGKILL, -9, None),
        (signal.SIGTERM, 75, "SIGTERM: checkpoint written"),
        (signal.SIGUSR1, 75, "SIGUSR1: checkpoint written"),
        (signal.SIGINT, 130, "interrupted by a signal"),
    ],
)
def test_run_ended_by_a_signal_is_resumed(
    number: signal.Signals, status: int, word: str | None, capsys: Capture
) -> None:
    with begun([*PROGRAM, *ENDLESS, "--json"]) as process:
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == status
    assert not out if word is None else json.loads(out)["reason"].startswith(word)
    assert Path("a", "solution.parquet").exists() == (status == 130)
    result = done(capsys, "resume", "a", "--stop", beyond())
    require_uninterrupted(capsys, result, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGUSR1, 75), (signal.SIGINT, 130)])
def test_signal_to_one_rank_ends_all_and_other_ranks_resume(
    mpirun: list[str], number: signal.Signals, status: int, capsys: Capture
) -> None:
    script = 'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec "$@"'
    command = [*mpirun, "3", "sh", "-c", script, "sh", *PROGRAM, *ENDLESS, "--json"]
    with begun(command) as process:
        os.kill(int(Path("pid.2").read_text()), number)
        out, said = process.communicate(timeout=60)
    assert process.returncode == status
    assert json.loads(out)["ranks"] == 3
    assert status == 130 or said.count(b"islands: ") == 1
    log = Path("a", "log.txt").read_text()
    pids = [line.split()[5] for line in log.splitlines() if line.startswith("rank ")]
    assert pids == [Path(f"pid.{rank}").read_text().strip() for rank in range(3)]
    line = ["resume", "a", "--stop", beyond(), "--json", "--threads", "1"]
    resumed = ran(*mpirun, "2", *PROGRAM, *line, check=True)
    require_uninterrupted(capsys, json.loads(resumed.stdout), 2)


def test_finished_run_prints_its_result_again(capsys: Capture) -> None:
    first = done(capsys, "run", "demo/tsp", *RUN, "--stop", "generations=20", "--out", "a")
    before = {path: path.stat().st_mtime_ns for path in Path("a").rglob("*")}
    assert done(capsys, "resume", "a") == first
    assert main(["resume", "a"]) == 0
    assert capsys.readouterr().out.startswith("Stopped: 20 generations done")
    assert {path: path.stat().st_mtime_ns for path in Path("a").rglob("*")} == before


@pytest.mark.slow
def test_asynchronous_run_has_no_checkpoint_to_resume(
    mpirun: list[str], tmp_path: Path, capsys: Capture
) -> None:
    run = ["run", "demo/tsp", *RUN, "--stop", "generations=20", "--out", "my a"]
    ran(*mpirun, "2", *PROGRAM, *run, "--async", "--quiet", check=True)
    first = done(capsys, "resume", "my a")
    assert first["reproducible"] is False
    before = {path: path.stat().st_mtime_ns for path in Path("my a").rglob("*")}
    assert main(["resume", "my a", "--stop", "generations=40"]) == 2
    said = capsys.readouterr().err
    again = "islands run --config 'my a/run.toml' --start 'my a/solution.tour'"
    assert said.endswith(f"with: {again}\n")
    assert {path: path.stat().st_mtime_ns for path in Path("my a").rglob("*")} == before
    result = done(capsys, *shlex.split(again)[1:], "--stop", "generations=40")
    assert result["cost"] <= first["cost"]


@pytest.mark.slow
def test_killed_runs_give_the_same_result(mpirun: list[str], optimised: None) -> None:
    killed = ran(sys.executable, KILLS, "4", "--ranks", "1,2", timeout=300)
    assert killed.returncode == 0, killed.stdout + killed.stderr
    assert "no differences" in killed.stdout


OLD_RUN = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
OLD_RUN += ["--threads", "1", "--improver", "none", "--stop", "generations=4"]
BEFORE = "0.0.9"
LAST_LINE = "# SHA-256 of the lines above: "


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path("old").rglob("*") if path.is_file()}


def digest_of(capsys: Capture, *line: str) -> str:
    return str(done(capsys, *line)["digest"])


def test_a_run_of_a_previous_version_is_read_and_repeated_but_not_resumed(
    monkeypatch: Patch, capsys: Capture
) -> None:
    with monkeypatch.context() as then:
        then.setattr(islands, "__version__", BEFORE)
        made = digest_of(capsys, *OLD_RUN, "--out", "old")
    before = contents()
    assert main(["resume", "old", "--stop", "generations=9"]) == 2
    error = capsys.readouterr().err
    assert f"was written by islands {BEFORE}, but this is islands {islands.__version__}" in error
    assert error.endswith("Start again with: islands run --config old/run.toml\n")
    after, log = contents(), Path("old/log.txt")
    assert after.pop(log).startswith(before.pop(log))
    assert after == before
    assert main(["verify", "demo/tsp", "old"]) == 0
    assert digest_of(capsys, "resume", "old") == made  # it is finished: there is nothing to resume
    assert digest_of(capsys, "run", "--config", "old/run.toml", "--out", "new") == made
    monkeypatch.setattr(islands, "__version__", f"{BEFORE}1")  # only the patch differs
    assert main(["resume", "old", "--stop", "generations=9"]) == 0


def test_a_folder_of_a_previous_format_is_rejected_but_its_settings_repeat_the_run(
    capsys: Capture,
) -> None:
    made = digest_of(capsys, *OLD_RUN, "--out", "old")
    path = Path("old/run.toml")
    lines = path.read_text().partition(LAST_LINE)[0].split("\n", 1)[1]
    text = f"{SIGN} 0.0.1, format 2: --config repeats it.\n{lines}"
    path.write_text(f"{text}{LAST_LINE}{hashlib.sha256(text.encode()).hexdigest()}\n")
    before = contents()
    for line in (["resume", "old"], ["verify", "demo/tsp", "old"]):
        assert main(line) == 2
        error = capsys.readouterr().err
        assert error.startswith("islands: old: has format 2, written by islands 0.0.1")
        assert error.endswith(f"or repeat the run with: islands run --config {path}\n")
    assert before == contents()
    assert digest_of(capsys, "run", "--config", str(path), "--out", "new") == made
