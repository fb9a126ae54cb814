"""The script of a job: a template of the folder slurm/ with directives and options filled in."""

from __future__ import annotations

import re
import shlex
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from islands.errors import UsageError
from islands.paths import data_folder
from islands.record.folder import JOB

_DIRECTIVE = "#SBATCH "
_SUBMITS_ITSELF = 'if [ -z "${SLURM_JOB_ID:-}" ]; then'
SCRIPT = "job.sbatch"
_PLAIN = re.compile(r"[\w@%+=:,./\[\]*&|-]+")
"""Values without quotes."""
_UNFIT = ("Cc", "Cs")
"""Unicode's categories of control characters, and of bytes that are not UTF-8."""


def script(
    template: str, directives: Mapping[str, str], words: Sequence[str], site: Path, folder: Path
) -> str:
    """Return the script that runs `template` with these directives of sbatch and these options.

    Refuse values that cannot be in one line of it.
    """
    require_fit("--out", str(folder))
    require_fit("--site", str(site))
    require_fit("the path of Python", sys.executable)
    for word in words:
        require_fit("the option", word)
    lines = (data_folder("slurm") / f"{template}.sbatch").read_text().splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith(_DIRECTIVE)]
    merged = dict(_directive(lines[place]) for place in places) | dict(directives)
    if "no-requeue" in directives:
        del merged["requeue"]
    begin = lines.index(_SUBMITS_ITSELF)
    end = lines.index("fi", begin)
    return "\n".join(
        [
            "#!/bin/bash",
            "# Written by `islands submit`. Submit it again with:",
            f"#   sbatch {shlex.quote(str(folder / JOB / SCRIPT))}",
            *(_line(name, value) for name, value in merged.items()),
            "",
            f"export ISLANDS_SITE={shlex.quote(str(site))}",
            f'[ -n "${{PYTHON:-}}" ] || PYTHON={shlex.quote(sys.executable)}',
            "export PYTHON",
            f"set -- {shlex.join(words)}",
            *lines[places[-1] + 1 : begin],
            _SUBMITS_ITSELF,
            '    echo "this script runs inside a job: sbatch $0" >&2',
            "    exit 2",
            *lines[end:],
            "",
        ]
    )


def require_fit(name: str, value: str) -> None:
    """Refuse a value with a line break, after which a shell would read the rest as a command."""
    if any(unicodedata.category(letter) in _UNFIT for letter in value):
        raise UsageError(
            f"{name} {value!r}: contains a line break or another control character, or is not"
            " UTF-8. The script of a job cannot contain it: choose another name or value"
        )


def output_in(folder: Path, name: str) -> str:
    """Return the value of `--output`: a file in the folder, whose path Slurm must not expand."""
    if "\\" in str(folder):
        raise UsageError(
            f"--out {folder}: contains a backslash, with which Slurm gives the output of a job"
            " another name. Name another folder"
        )
    return f"{str(folder / JOB).replace('%', '%%')}/{name}"


def _directive(line: str) -> tuple[str, str]:
    name, _, value = line.removeprefix(f"{_DIRECTIVE}--").partition("=")
    return name, value


def _line(name: str, value: str) -> str:
    require_fit("the working directory" if name == "chdir" else f"--{name}", value)
    if not value:
        return f"{_DIRECTIVE}--{name}"
    if _PLAIN.fullmatch(value):
        return f"{_DIRECTIVE}--{name}={value}"
    # sbatch reads quotes, backslashes and # as a shell does, but expands nothing.
    escaped = re.sub(r'(["\\])', r"\\\1", value)
    return f'{_DIRECTIVE}--{name}="{escaped}"'
