"""What the batch scripts call: `python -m islands.slurm run|sweep|scaling|collect ...`."""

from __future__ import annotations

import sys
from pathlib import Path

from islands.errors import IslandsError, UsageError
from islands.text import command_line, unknown

COMMANDS = ("run", "sweep", "scaling", "collect")


def main(words: list[str]) -> int:
    """Do one command inside a job; return its exit status."""
    try:
        with command_line():
            return _done(words)
    except IslandsError as error:
        print(f"islands job: {error}", file=sys.stderr, flush=True)
        return error.status


def _done(words: list[str]) -> int:
    if not words or words[0] not in COMMANDS:
        raise UsageError(unknown("command", words[0] if words else "", COMMANDS))
    command, rest = words[0], words[1:]
    if command == "collect":
        from islands.slurm.collect import collect

        return max(collect(Path(each)) for each in rest)
    if command == "scaling":
        from islands.slurm.scaling import run_scaling

        return run_scaling(rest)
    if command == "sweep":
        from islands.slurm.sweep import run_element

        return run_element(rest)
    from islands.slurm.run_job import run_job

    return run_job(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
