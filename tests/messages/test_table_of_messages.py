"""The table of messages: what users see for calls and commands that do not fit.

Each `*.txt` in this folder has sections; one begins with `## ` and has a folder of its own. In a
section, a line `>>> ` is Python and `$ islands ` a command, with what it prints below, then an
empty line. Of Python that raises, the table has the error; otherwise, what the expression is. Of a
command, it has what goes to standard error, and a status that is not 2.

After a message has changed, this writes the new one, to be read in the diff:

    python -m pytest tests/messages --write-messages
"""

import re
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.cli import main

TABLES = sorted(Path(__file__).parent.glob("*.txt"))
_USAGE = 2
"""The status of a command that is wrong."""
_SECTION = re.compile(r"^## .+$", re.MULTILINE)
_CALL = re.compile(r"^(?:>>> |\$ ).*(?:\n\.\.\. .*)*", re.MULTILINE)


def sections(text: str) -> list[str]:
    """Return the sections of a table; each begins with its title."""
    starts = [each.start() for each in _SECTION.finditer(text)]
    return [text[begin:end] for begin, end in zip(starts, [*starts[1:], None], strict=True)]


def answered(section: str, answer: Callable[[str], str]) -> str:
    """Return a section with the answer below each call."""
    title, _, rest = section.partition("\n")
    blocks = [f"{title}\n"]
    for call in _CALL.findall(rest):
        said = answer(call)
        blocks.append(f"{call}\n{said}\n" if said else f"{call}\n")
    return "\n".join(blocks)


class Caller:
    """Makes the calls of a section, and returns what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._names: dict[str, Any] = {"islands": islands, "np": np, "Path": Path}

    def __call__(self, call: str) -> str:
        text = re.sub(r"^(>>> |\$ |\.\.\. )", "", call, flags=re.MULTILINE)
        said = self._command(text) if call.startswith("$") else self._python(text)
        here = re.escape(str(Path.cwd()))
        return re.sub(rf"{here}(?=/|\b)", "/here", said).rstrip("\n")

    def _command(self, line: str) -> str:
        program, *words = shlex.split(line)
        assert program == "islands", line
        self._capsys.readouterr()
        status = main(words)
        said = self._capsys.readouterr().err
        return said if status == _USAGE else f"{said}status {status}"

    def _python(self, text: str) -> str:
        try:
            code = compile(text, "<table>", "eval")
        except SyntaxError:
            code = compile(text, "<table>", "exec")
        try:
            value = eval(code, self._names)  # the table is part of the tests
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "" if value is None else repr(value)


@pytest.mark.parametrize(
    ("table", "section"),
    [
        pytest.param(path, each, id=f"{path.stem}-{each.partition(chr(10))[0][3:]}")
        for path in TABLES
        for each in sections(path.read_text(encoding="utf-8"))
    ],
)
def test_messages_are_those_of_the_table(
    table: Path,
    section: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pytestconfig: pytest.Config,
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = answered(section, Caller(capsys))
    if pytestconfig.getoption("--write-messages"):
        text = table.read_text(encoding="utf-8")
        table.write_text(text.replace(section.rstrip("\n"), now.rstrip("\n")), encoding="utf-8")
    else:
        assert now.rstrip("\n") == section.rstrip("\n")
