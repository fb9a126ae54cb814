"""The content of files and scripts of others is escaped, so that it cannot control the terminal."""

import ast
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch
from runs_for_tests import change_result

import islands
from islands.cli import COMMANDS, follow, main
from islands.errors import CompileError, InputError, RunError
from islands.text import escaped

PACKAGE = Path(islands.__file__).parent
CODES = "\x1b]0;evil\x07\x1b[2J\r\x9b31m\u202e"
"""Sets the title, clears the screen, restarts the line, and reverses the direction of text."""
EVIL = f"{CODES}\nFORGED"
"""The same, followed by a line that looks like output of the program."""
SCRIPT = f"""
import islands
def cost(order):
    raise ValueError({CODES!r} + "in a function")
problem = islands.permutation(8, function=cost, name="evil")
"""
BROKEN = f"raise ValueError({CODES!r})\n"


@pytest.fixture
def place(finished: Path, tmp_path: Path, monkeypatch: Patch) -> Path:
    """Return a folder with a run, a sweep, scripts and instances of others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(follow, "_LOG_SECONDS", 0.0)
    run = tmp_path / "a"
    shutil.copytree(finished, run)
    change_result(run, reason=f"done{EVIL}", instance=EVIL)
    log = run / "log.txt"
    log.write_text(f"{log.read_text()} *C           21     0.0s | {CODES}\n{CODES}\n")
    failed = {"job": f"7{EVIL}", "number": 1, "began": 0, "words": [EVIL], "output": EVIL}
    failed |= {"before": {}, "ended": 1, "status": 1, "error": f"it failed{EVIL}"}
    for name in ("sweep/1", "job"):
        (tmp_path / name / "slurm").mkdir(parents=True)
        (tmp_path / name / "slurm" / "attempts.jsonl").write_text(f"{json.dumps(failed)}\n")
    (tmp_path / "evil.py").write_text(SCRIPT)
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / f"i{EVIL}.tsp").write_text(f"NAME: {EVIL}\nTYPE: {EVIL}\n")
    (tmp_path / f"o{EVIL}").mkdir()
    (tmp_path / f"o{EVIL}" / "mine.txt").write_text("")
    return tmp_path


SCRIPTED = ["--backend", "cpu", "--population", "16", "--islands", "2", "--stop", "seconds=1"]
LINES: dict[str, list[list[str]]] = {
    "run": [
        ["run", "evil.py:problem", *SCRIPTED],
        ["run", "evil.py:problem", *SCRIPTED, "--debug"],
        ["run", "broken.py:problem"],
        ["run", "demo/tsp", "--out", f"o{EVIL}"],
        ["run", f"i{EVIL}.tsp"],
    ],
    "resume": [["resume", "a"], ["resume", "a", "--stop", "generations=21"]],
    "verify": [["verify", "demo/tsp", "a"], ["verify", f"i{EVIL}.tsp", "a"]],
    "check": [["check", "evil.py:problem"], ["check", "broken.py:problem"]],
    "instances": [
        ["instances", "list"],
        ["instances", "show", f"i{EVIL}.tsp"],
        ["instances", EVIL],
    ],
    "completion": [["completion", EVIL]],
    "doctor": [["doctor", EVIL]],
    "bench": [["bench", EVIL], ["bench", "ga", "--out", f"o{EVIL}"]],
    "reproduce": [["reproduce", EVIL], ["reproduce", "xavier2019", "--only", EVIL]],
    "submit": [["submit", "--dry-run", "run", EVIL], ["submit", "--dry-run", "resume", EVIL]],
    "status": [["status", "a"], ["status", "job"], ["status", "sweep"], ["status", f"o{EVIL}"]],
    "watch": [["watch", "a"], ["watch", "job"], ["watch", "sweep"]],
    "collect": [["collect", "sweep"], ["collect", f"o{EVIL}"]],
    "report": [["report", "a"], ["report", f"o{EVIL}"], ["report", "a", "--out", f"{EVIL}.html"]],
    "plot": [["plot", "a"], ["plot", "a", "--instance", "broken.py:problem"]],
    "export": [["export", "a", "--csv", f"{EVIL}.csv"], ["export", "a", EVIL]],
    "tune": [["tune", "evil.py:problem", "--out", f"o{EVIL}"], ["tune", "broken.py:problem"]],
}
SHOWN = {
    "run": r"in a function",
    "check": r"in a function",
    "status": r"it failed\x1b]0",
    "watch": r"\r\x9b31m\u202e",
}
"""Parts of the output of commands, which show that there was something to escape."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_no_codes_of_others(command: str, place: Path, capfd: Capture) -> None:
    printed = ""
    for line in LINES[command]:
        main(line)
        out, error = capfd.readouterr()
        for text in (out, error):
            assert escaped(text) == text, line
            assert "\nFORGED" not in f"\n{text}", line
        printed += out + error
    assert SHOWN.get(command, "") in printed


@pytest.mark.parametrize("kind", [RunError, CompileError, InputError])
def test_errors_are_escaped_for_users_of_python_too(kind: Callable[[str], Exception]) -> None:
    assert str(kind(f"a{CODES}")) == r"a\x1b]0;evil\x07\x1b[2J\r\x9b31m\u202e"


@pytest.mark.slow
def test_only_one_function_prints() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            is_traceback = words.startswith("traceback.print")
            if words in ("print", "sys.stdout.write", "sys.stderr.write") or is_traceback:
                found.append(f"{path.relative_to(PACKAGE).as_posix()}: {words}")
    assert found == ["text.py: print"]
