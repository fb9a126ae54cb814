"""The command of the batch scripts, and the check of a run before its job or its ranks start.

The scripts call `python -m islands.cli.job run|sweep|scaling ...`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from islands.cli import resume, run
from islands.custom.trust import Trust
from islands.errors import IslandsError, UsageError
from islands.record.folder import require_run
from islands.slurm.command_line import JobFacts
from islands.text import command_line, show, unknown

COMMANDS = ("run", "sweep", "scaling")


def checked(words: Sequence[str]) -> JobFacts:
    """Return the properties of `run ...` or `resume DIR ...`; raise the errors of the command."""
    from islands.campaign.series import SeriesPlan
    from islands.cli import parsed
    from islands.configuration.resolve import layers, resolve
    from islands.run.request import resolved, stored_request

    args = parsed(list(words))
    trust = Trust(is_full=args.trust)
    if args.command == "resume":
        require_run(args.folder)
        asked = stored_request(args.folder, resume.options(args), trust)
        return JobFacts(resolve(*asked).general.backend == "cpu")
    given = run.options(args)
    runs: tuple[str, ...] = ()
    if args.runs is None and not args.instances[1:]:
        specs = [resolved(layers(given, args.config, trust))[0]]
    else:
        plan = SeriesPlan.of(args.instances, args.runs or 1, given, args.config, trust)
        specs = [job.spec for job in plan.first]
        runs = tuple(job.folder for job in plan.jobs())
    return JobFacts(all(spec.general.backend == "cpu" for spec in specs), runs)


def main(words: list[str]) -> int:
    """Run one command inside a job; return its exit status."""
    try:
        with command_line():
            return _run(words)
    except IslandsError as error:
        show(f"islands job: {error}", file=sys.stderr)
        return error.status


def _run(words: list[str]) -> int:
    from islands.slurm.run_job import run_job
    from islands.slurm.scaling import run_scaling
    from islands.slurm.sweep import run_element

    if not words or words[0] not in COMMANDS:
        raise UsageError(unknown("command", words[0] if words else "", COMMANDS))
    command = {"run": run_job, "sweep": run_element, "scaling": run_scaling}[words[0]]
    return command(words[1:], checked)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
