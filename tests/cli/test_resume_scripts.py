"""Runs with parts of a script: their files, and how they are resumed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import copied_parts
import pytest

import islands
from islands.cli import main
from islands.configuration.identity import require_agreement
from islands.configuration.resolve import layers, resolve
from islands.custom.parts import PartKind
from islands.errors import UsageError
from islands.parallel import World
from islands.testing.ranks import on_ranks

FEW = ["--islands", "4", "--population", "16", "--interval", "3", "--migrants", "1"]
FEW += ["--encoding", "keys", "--improver", "none", "--backend", "cpu", "--threads", "1"]
OWN = {"algorithm": "Breed", "crossover": "Spread", "mutation": "Shift", "migration": "circle"}
PARTS = [word for name, part in OWN.items() for word in (f"--{name}", f"mine.py:{part}")]
PROBLEM = """
from islands.instances.synthetic import uniform_tsp

nine = Tour(uniform_tsp(9, seed=1))
"""
IN_PYTHON = """
import islands
from mine import Breed, Shift, Spread, circle, nine

if __name__ == "__main__":
    parts = {"algorithm": Breed, "crossover": %s, "mutation": Shift(), "migration": circle}
    islands.solve(nine, stop="generations=6", islands=4, population=16, interval=3, migrants=1,
                  encoding="keys", improver="none", backend="cpu", threads=1, out="out", **parts)
"""


@pytest.fixture(autouse=True)
def _next_to_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(copied_parts.__file__, "mine.py")
    with Path("mine.py").open("a") as script:
        script.write(PROBLEM)


def forget() -> None:
    """Remove the script's parts from this process, as in a new process."""
    for kind in PartKind.all:
        for name in kind.own:
            del kind.registry[name]
        kind.own.clear()


def begin(generations: int, out: str = "out") -> None:
    line = ["mine.py:nine", *FEW, *PARTS, "--stop", f"generations={generations}"]
    assert main(["run", *line, "--out", out, "--quiet"]) == 0
    forget()


def resume(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["resume", "out", *line, "--stop", "generations=12", "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def refusal(capsys: pytest.CaptureFixture[str], *line: str) -> str:
    capsys.readouterr()
    assert main(["resume", "out", *line, "--stop", "generations=12"]) == 2
    return capsys.readouterr().err


def whole(capsys: pytest.CaptureFixture[str]) -> str:
    begin(12, "whole")
    capsys.readouterr()
    assert main(["resume", "whole", "--json"]) == 0
    forget()
    return str(json.loads(capsys.readouterr().out)["digest"])


def test_run_is_resumed_with_its_script(capsys: pytest.CaptureFixture[str]) -> None:
    begin(6)
    kept = {path.name: path.read_text() for path in Path("out/parts").glob("*.cuh")}
    used = (copied_parts.Breed, copied_parts.Spread, copied_parts.Shift, copied_parts.Tour)
    assert kept == {part.header.name: part.header.text for part in used}
    assert resume(capsys)["digest"] == whole(capsys)


def test_moved_script_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    begin(6)
    Path("elsewhere").mkdir()
    shutil.move("mine.py", "elsewhere/mine.py")
    said = refusal(capsys)
    assert "/mine.py: No such file or directory." in said
    moved = [word.replace("mine.py", "elsewhere/mine.py") for word in PARTS]
    flags = " ".join(f"--{name} FILE.py:NAME" for name in OWN)
    assert f"name its new location: islands resume out {flags}\n" in said
    assert "name its new location: islands resume out --instance FILE\n" in refusal(capsys, *moved)
    again = resume(capsys, *moved, "--instance", "elsewhere/mine.py:nine")
    shutil.copy("elsewhere/mine.py", "mine.py")
    assert again["digest"] == whole(capsys)
    assert "elsewhere/mine.py:Spread" in Path("out/run.toml").read_text()


NAMELESS = "type('Nameless', (Spread,), {})"


@pytest.mark.parametrize(("crossover", "named"), [("Spread", True), (NAMELESS, False)])
def test_objects_are_found_by_their_name_in_the_module(
    capsys: pytest.CaptureFixture[str], crossover: str, named: bool
) -> None:
    Path("solve.py").write_text(IN_PYTHON % crossover)
    subprocess.run([sys.executable, "solve.py"], check=True, timeout=120)
    settings = Path("out/run.toml").read_text()
    for name in ("nine", "Breed", "Shift", "circle", *(["Spread"] if named else [])):
        assert f'"{Path.cwd()}/mine.py:{name}"' in settings
    line = []
    if not named:
        assert 'crossover = "spread"' in settings
        said = refusal(capsys)
        assert "out: its crossover 'spread' is not defined at the top level of a script, s" in said
        assert "name its new location: islands resume out --crossover FILE.py:NAME\n" in said
        line = ["--crossover", "mine.py:Spread"]
    assert resume(capsys, *line)["digest"] == whole(capsys)


def test_script_in_main_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """The parts are in `__main__`; importing the script does not run it again."""
    text = Path("mine.py").read_text() + (IN_PYTHON % "Spread").replace("from mine import", "#")
    Path("mine.py").write_text(text)
    subprocess.run([sys.executable, "mine.py"], check=True, timeout=120)
    assert f'"{Path.cwd()}/mine.py:Spread"' in Path("out/run.toml").read_text()
    assert resume(capsys)["digest"] == whole(capsys)


CHANGES = {
    "the header of the crossover spread": ('"spread.cuh")', '"spread.cuh", word="word ")'),
    "the header of the problem tour": ('"tour.cuh")', '"tour.cuh", namespace="namespace ")'),
    "the definition of the topology circle": ("(island - 1) %", "(island + 1) %"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changed_script_is_refused(capsys: pytest.CaptureFixture[str], what: str) -> None:
    begin(6)
    old, new = CHANGES[what]
    text = Path("mine.py").read_text()
    assert old in text
    Path("mine.py").write_text(text.replace(old, new))
    said = refusal(capsys)
    assert said.startswith(f"islands: out: {what}")
    assert "has changed since the run began" in said
    # So are the checkpoints, which contain the identity of their run.
    shutil.rmtree("out/parts")
    assert "belongs to a run with other settings" in refusal(capsys)
    Path("mine.py").write_text(text + "\n# Other lines may change.\n")
    assert resume(capsys)["digest"] == whole(capsys)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--encoding", "bits"], "a resumed run keeps its encoding, 'keys'"),
        (["--encoding", "mine.py:Digits"], "a resumed run keeps its encoding"),
        (["--crossover", "one_point"], "is 'one_point', but the crossover of the run is '"),
        (
            ["--crossover", "mine.py:Shift"],
            "is a mutation (the class Shift), but must be a crossover",
        ),
        (
            ["--migration", "mine.py:Circle"],
            "out: the run began with topology circle, but now has topology round. Use the or",
        ),
    ],
)
def test_resuming_cannot_change_a_part(
    capsys: pytest.CaptureFixture[str], line: list[str], message: str
) -> None:
    begin(6)
    assert message in refusal(capsys, *line)


def test_result_is_shown_without_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    begin(6)
    Path("mine.py").unlink()
    capsys.readouterr()
    assert main(["resume", "out"]) == 0
    assert "Its cost cannot be computed again, as files are missing" in capsys.readouterr().out


def test_resumed_run_uses_only_the_kept_headers(capsys: pytest.CaptureFixture[str]) -> None:
    begin(6)
    Path("out/parts/notes.txt").write_text("mine")
    line = ["demo/tsp", *FEW, "--stop", "generations=1", "--out", "out", "--force", "--quiet"]
    assert main(["run", *line]) == 0
    assert [path.name for path in Path("out/parts").iterdir()] == ["notes.txt"]
    Path("out/parts/notes.txt").unlink()
    begin(6, "other")
    assert main(["run", *line[:-4], "--out", "other", "--force", "--quiet"]) == 0
    assert not Path("other/parts").exists()


def test_index_cannot_name_other_files() -> None:
    begin(6)
    Path("precious.cuh").write_text("mine")
    index = Path("out/parts/index.json")
    index.write_text(re.sub('"spread.cuh"', '"../../precious.cuh"', index.read_text()))
    line = ["demo/tsp", *FEW, "--stop", "generations=1", "--out", "out", "--force", "--quiet"]
    assert main(["run", *line]) == 0
    assert Path("precious.cuh").read_text() == "mine"


def solved(**parts: Any) -> islands.Result:
    few: dict[str, Any] = {"islands": 3, "population": 16, "backend": "cpu", "threads": 1}
    few |= {"algorithm": "ga", "encoding": "keys", "improver": "none", "stop": "generations=2"}
    return islands.solve("demo/tsp", **few | parts)


def test_ranks_must_have_the_same_parts() -> None:
    here = threading.local()

    def ahead(island: int, islands: int, number: int, seed: int) -> list[int]:
        return [(island + here.step) % islands]

    def one(ranks: World) -> None:
        here.step = ranks.rank + 1
        migration = islands.Topology("mine", ahead)
        problem = islands.load("demo/tsp")
        spec = resolve(layers({"migration": migration}), problem)
        require_agreement(ranks, spec, problem, writes=False)

    with pytest.raises(
        UsageError, match=r"rank 1 of 2 differs from rank 0 in the parts from scripts"
    ):
        on_ranks(2, one)


def test_topology_must_be_pure() -> None:
    drawn = iter(range(1000))

    def another(island: int, islands: int, number: int, seed: int) -> list[int]:
        return [next(drawn) % 2] if island == 2 else []

    with pytest.raises(UsageError, match="mine: two calls with the same arguments returned"):
        solved(migration=islands.Topology("mine", another))


def test_topology_is_not_called_for_one_island() -> None:
    say = islands.Topology("mine", lambda island, islands, number, seed: [(island - 1) % islands])
    assert solved(migration=say, islands=1).cost


def test_headers_of_two_parts_need_different_names() -> None:
    class Other(copied_parts.Shift):
        header = islands.Header("spread.cuh", copied_parts.Shift.header.text)

    with pytest.raises(
        UsageError, match="crossover spread and mutation shift have different headers"
    ):
        solved(crossover=copied_parts.Spread, mutation=Other)
