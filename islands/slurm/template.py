"""The script of a job: a template of the folder slurm/ with directives and options filled in."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from islands.paths import data_folder
from islands.record.folder import JOB

_DIRECTIVE = "#SBATCH "
_SUBMITS_ITSELF = 'if [ -z "${SLURM_JOB_ID:-}" ]; then'
SCRIPT = "job.sbatch"


def script(
    template: str, directives: Mapping[str, str], words: Sequence[str], site: Path, folder: Path
) -> str:
    """Return the script that runs `template` with these directives of sbatch and these options."""
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
            f'export PYTHON="${{PYTHON:-{sys.executable}}}"',
            f"set -- {shlex.join(words)}",
            *lines[places[-1] + 1 : begin],
            _SUBMITS_ITSELF,
            '    echo "this script runs inside a job: sbatch $0" >&2',
            "    exit 2",
            *lines[end:],
            "",
        ]
    )


def _directive(line: str) -> tuple[str, str]:
    name, _, value = line.removeprefix(f"{_DIRECTIVE}--").partition("=")
    return name, value


def _line(name: str, value: str) -> str:
    if not value:
        return f"{_DIRECTIVE}--{name}"
    has_space = any(letter.isspace() for letter in value)
    return f'{_DIRECTIVE}--{name}="{value}"' if has_space else f"{_DIRECTIVE}--{name}={value}"
