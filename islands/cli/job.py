"""The command of the batch scripts: `python -m islands.cli.job run|sweep|scaling ...`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from islands.cli.checked import checked
from islands.errors import IslandsError, UsageError
from islands.slurm.run_job import run_job
from islands.slurm.scaling import run_scaling
from islands.slurm.sweep import run_element
from islands.text import command_line, unknown

COMMANDS = {"run": run_job, "sweep": run_element, "scaling": run_scaling}


def main(words: list[str]) -> int:
    """Run one command inside a job; return its exit status."""
    try:
        with command_line():
            if not words or words[0] not in COMMANDS:
                raise UsageError(unknown("command", words[0] if words else "", COMMANDS))
            return COMMANDS[words[0]](words[1:], _uses_cpu)
    except IslandsError as error:
        print(f"islands job: {error}", file=sys.stderr, flush=True)
        return error.status


def _uses_cpu(words: Sequence[str]) -> bool:
    return checked(words).on_cpu


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
