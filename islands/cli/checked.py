"""Check the words of a run before a job starts it: its options, settings and instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from islands.cli import resume, run
from islands.record.folder import require_run


@dataclass(frozen=True)
class Checked:
    """What a job needs to know about a run."""

    on_cpu: bool
    """Whether it uses the CPU backend."""
    islands: int


def checked(words: Sequence[str]) -> Checked:
    """Return the properties of `run ...` or `resume DIR ...`; refuse what the command refuses."""
    from islands.cli import parsed
    from islands.run.request import resolved, stored_request
    from islands.spec.resolve import layers, resolve

    args = parsed(list(words))
    if args.command == "resume":
        require_run(args.folder)
        stored = resolve(*stored_request(args.folder, resume.options(args))).general
        return Checked(stored.backend == "cpu", stored.islands)
    given = run.options(args)
    named = [{"instance": name} for name in args.instances] or [{}]
    specs = [resolved(layers({**given, **one}, args.config))[0].general for one in named]
    return Checked(
        all(spec.backend == "cpu" for spec in specs), min(spec.islands for spec in specs)
    )
