"""Parts of scripts, named `FILE.py:NAME` on the command line."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import copied_parts
import pytest
import user_script

from islands.cli import main

FEW = ["--islands", "4", "--population", "16", "--interval", "3", "--migrants", "1"]
FEW += ["--backend", "cpu", "--threads", "1", "--stop", "generations=6"]
BUILT_IN = {
    "algorithm": "ga",
    "encoding": "keys",
    "crossover": "two_point",
    "mutation": "insertion",
    "improver": "swap",
    "migration": "ring",
}
OWN = {
    "algorithm": "Breed",
    "encoding": "Digits",
    "crossover": "Spread",
    "mutation": "Shift",
    "improver": "Climb",
    "migration": "circle",
}
PROBLEM = """
from islands.instances.synthetic import uniform_tsp

class Nine(Tour):
    name = "nine"

    def __init__(self):
        super().__init__(uniform_tsp(9, seed=1))

nine = Tour(uniform_tsp(9, seed=1))
"""


@pytest.fixture(autouse=True)
def _next_to_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(copied_parts.__file__, "mine.py")
    with Path("mine.py").open("a") as script:
        script.write(PROBLEM)


def ran(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", *line, *FEW, "--json", "--out", "out", "--force"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def options(parts: dict[str, str], file: str = "") -> list[str]:
    return [word for name, part in parts.items() for word in (f"--{name}", f"{file}{part}")]


def test_each_part_may_come_from_a_script(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    usual = ran(capsys, "demo/tsp", *options(BUILT_IN))
    for name, part in OWN.items():
        changed = options(BUILT_IN | {name: f"mine.py:{part}"})
        assert ran(capsys, "demo/tsp", *changed)["digest"] == usual["digest"], name
    own = ran(capsys, "demo/tsp", *options(OWN, "mine.py:"))
    assert own["digest"] == usual["digest"]
    assert (own["algorithm"], own["encoding"]) == ("breed", "digits")
    kept = tomllib.loads(Path("out/run.toml").read_text())
    assert kept["crossover"] == f"{tmp_path}/mine.py:Spread"
    assert kept["improver"]["name"] == f"{tmp_path}/mine.py:Climb"
    # run.toml repeats the run from any folder.
    shutil.copy("out/run.toml", "again.toml")
    assert ran(capsys, "demo/tsp", "--config", "again.toml")["digest"] == usual["digest"]


def test_parts_are_settings_and_may_be_in_files(capsys: pytest.CaptureFixture[str]) -> None:
    usual = ran(capsys, "demo/tsp", *options(BUILT_IN))
    Path("set.toml").write_text('crossover = "mine.py:Spread"\nmigration = "mine.py:Circle"\n')
    line = ["--config", "set.toml", "--set", "mutation=mine.py:Shift"]
    rest = {name: BUILT_IN[name] for name in ("algorithm", "encoding", "improver")}
    assert ran(capsys, "demo/tsp", *options(rest), *line)["digest"] == usual["digest"]
    # An overridden part need not exist.
    Path("set.toml").write_text('crossover = "gone.py:Spread"\n')
    line = ["--config", "set.toml", *options(BUILT_IN)]
    assert ran(capsys, "demo/tsp", *line)["digest"] == usual["digest"]


@pytest.mark.parametrize("name", ["nine", "Nine"])
def test_problem_of_a_script_is_run_and_verified(
    capsys: pytest.CaptureFixture[str], name: str, tmp_path: Path
) -> None:
    result = ran(capsys, f"mine.py:{name}", *options(BUILT_IN))
    assert result["problem"] == {"nine": "tour", "Nine": "nine"}[name]
    kept = tomllib.loads(Path("out/run.toml").read_text())
    assert kept["instance"] == f"{tmp_path}/mine.py:{name}"
    assert main(["verify", f"mine.py:{name}", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == result["cost"]


def test_problem_without_folder_reader_is_verified_from_a_folder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(user_script.__file__, "user_script.py")
    line = ["--algorithm", "ga", "--encoding", "keys", "--improver", "none"]
    cost = ran(capsys, "user_script.py:shifts", *line)["cost"]
    for solution in ("out", "out/solution.shifts"):
        assert main(["verify", "user_script.py:shifts", solution, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["cost"] == cost
    assert main(["instances", "show", "user_script.py:shifts"]) == 0
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert rows[:3] == [["name", "shifts12"], ["problem", "shifts"], ["size", "12"]]


def test_tuning_compares_parts_of_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    over = [
        "--over",
        "crossover=mine.py:Spread,one_point",
        "--over",
        "migration=mine.py:circle,elite",
    ]
    rest = {name: BUILT_IN[name] for name in ("algorithm", "encoding", "mutation", "improver")}
    line = ["demo/tsp", *FEW, *options(rest), *over, "--grid", "--runs", "2"]
    assert main(["tune", *line, "--json", "--out", "tuned"]) == 0
    values = [each["values"] for each in json.loads(capsys.readouterr().out)["configurations"]]
    pairs = {(each.get("crossover"), each.get("migration.topology")) for each in values}
    assert pairs >= {("spread", "circle"), ("one_point", "circle"), ("one_point", "elite")}
    assert ran(capsys, "demo/tsp", "--config", "tuned/best.toml")["cost"] > 0


SCRIPTS = {
    "syntax.py": "import islands\n\ndef f(:\n",
    "raises.py": "import islands\nrate = 1\nrate = rate / 0\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "solves.py": "import islands\nislands.solve('demo/tsp')\n",
    "helped.py": "import helper\n",
    "helper.py": "import islands\nislands.solv\n",
    "empty.py": "",
}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "algorithm",
            "syntax.py:A",
            "{}/syntax.py, line 3, 'def f(:': SyntaxError: inv",
        ),
        ("improver", "raises.py:A", "{}/raises.py, line 3, 'rate = rate / 0': ZeroDiv"),
        ("encoding", "leaves.py:A", "{}/leaves.py, line 2, 'sys.exit(3)': SystemExit: 3"),
        (
            "algorithm",
            "solves.py:A",
            "the script calls islands.solve while it is imported",
        ),
        (
            "algorithm",
            "helped.py:A",
            "{}/helped.py, line 1, 'import helper': Attribut",
        ),
        (
            "algorithm",
            "gone.py:A",
            "{}/gone.py: No such file or directory. Name a file",
        ),
        (
            "algorithm",
            "mine.py:Bred",
            "no 'Bred'. Did you mean 'Breed'? Write mine.py:Bree",
        ),
        ("migration", "mine.py:Tore", "no 'Tore'. Did you mean 'Tour'? Write mine.py:circle or"),
        ("mutation", "mine.py", "the name of a part is missing. Write mine.py:Shift"),
        ("mutation", "mine.py:", "the name of a part is missing. Write mine.py:Shift"),
        (
            "mutation",
            "empty.py:A",
            "It defines no mutation: derive one from islands.Mut",
        ),
        (
            "improver",
            "mine.py:Spread",
            "mine.py:Spread: is a crossover (the class Spread),",
        ),
        (
            "improver",
            "mine.py:data_folder",
            "a function, but must be an improver. Write mine.",
        ),
        ("crossover", "mine.py:FEW", "defines no 'FEW'"),
    ],
)
def test_invalid_script_is_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, value: str, message: str
) -> None:
    for name, text in SCRIPTS.items():
        Path(name).write_text(text)
    line = [] if option == "algorithm" else ["--algorithm", "ga"]
    assert main(["run", "demo/tsp", *line, f"--{option}", value]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert message.format(tmp_path) in said


def test_error_of_a_script_during_the_run_is_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "class Late(Breed):\n    name = 'late'\n\n    def plan(self, arrays):\n"
    Path("late.py").write_text(f"from mine import Breed\n{text}        return arrays['naer']\n")
    line = ["--algorithm", "late.py:Late", "--encoding", "keys", *FEW, "--quiet"]
    assert main(["run", "demo/tsp", *line, "--improver", "none"]) == 1
    said = f"""islands: {tmp_path}/late.py, line 6, "return arrays['naer']": KeyError: 'naer'\n"""
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("status", ["0", "'enough'", ""])
def test_a_script_cannot_end_a_command(status: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import sys\nfrom mine import Breed\nclass Leaves(Breed):\n    name = 'leaves'\n"
    Path("leaves.py").write_text(f"{text}    def plan(self, arrays):\n        sys.exit({status})\n")
    line = ["--algorithm", "leaves.py:Leaves", "--encoding", "keys", *FEW, "--quiet"]
    assert main(["run", "demo/tsp", *line, "--improver", "none"]) == 1
    said = capsys.readouterr().err
    assert "leaves.py, line 6, " in said
    assert f"sys.exit({status or None}) cannot end a command" in said


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        (
            "mine.py:Spread",
            "is a crossover (the class Spread), but must be a problem",
        ),
        ("mine.py:Nin", "defines no 'Nin'. Did you mean 'nine'?"),
        ("mine.py:Tour", "mine.py:Tour is created without arguments: "),
    ],
)
def test_problem_that_cannot_be_loaded_is_reported(
    capsys: pytest.CaptureFixture[str], instance: str, message: str
) -> None:
    assert main(["run", instance]) == 2
    assert message in capsys.readouterr().err


def test_script_is_imported_once_and_not_as_main(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Path("mine.py").open("a") as script:
        script.write('with open("imports.txt", "a") as file:\n    print(__name__, file=file)\n')
    for _ in range(2):
        ran(capsys, "demo/tsp", *options(OWN, "mine.py:"))
    (name,) = Path("imports.txt").read_text().split()
    assert name != "__main__"
    # A script with another text is imported again.
    with Path("mine.py").open("a") as script:
        script.write("Spread = None\n")
    assert main(["run", "demo/tsp", "--crossover", "mine.py:Spread"]) == 2
    assert "is of the type NoneType, but must be a crossover" in capsys.readouterr().err
