"""Measure throughput, scaling and migration on this machine, and simulate topologies beyond it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from islands.cli import arguments, bench_options
from islands.display.heartbeat import Heartbeat, end_work
from islands.engine.signals import suspending
from islands.errors import UsageError
from islands.parallel import World, launched, world
from islands.studies.bench import BENCHES, COLLECTIVE, DRAWN, GPU_INSTANCES, LONG, benchmark
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.measurement import (
    compared,
    measurement,
    origin,
    read_tables,
    reject_other_measurement,
    text_of,
    write,
)
from islands.studies.bench.rivals.contest import require_installed
from islands.studies.clusters.command_line import CommandWords
from islands.text import option, show, unknown

if TYPE_CHECKING:
    from islands.tables import Row

_EXAMPLES = """
examples:
  islands bench brkga --backend cpu --threads 8
  islands bench topologies --islands 8,64,512 --out topologies
  islands bench quality --of sac94,gk,'orlib/mknapcb?-?0' --rivals highs --out quality
  islands bench quality --of tai60a --variant 'islands=1 population=1056' \\
      --variant 'islands=8 population=132 migration=ring' --seeds 10 --limit 20 --out study
  islands bench tabu --json > old.json; islands bench tabu --compare old.json
  islands bench colonies --mixes tai60a,flow.py:problem --seeds 10 --limit 60 --out colonies
  mpirun -n 4 python -m islands bench migration --instances zi929,fi10639
  mpirun -n 4 python -m islands bench gpus it16862 sw24978 --gap 0.001% --limit 60 --out gpus
  mpirun -n 4 python -m islands bench gpus sleep --stop generations=8 --threads 1

Without instances, gpus solves: """
_EXAMPLES += ", ".join(GPU_INSTANCES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands bench`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    text = f"{', '.join(BENCHES)}; after gpus, also instances; without a name, list them"
    add("what", nargs="*", metavar="WHAT", type=arguments.NAME, help=text)
    add("--quiet", action="store_true", help="print only the tables, not the progress")
    add("--json", action="store_true", help="print one JSON object")
    add("--out", metavar="DIR", type=arguments.folder, help="write tables and plots to this folder")
    text = "also compare with OLD.json, the output of an earlier --json or the bench.json of --out"
    add("--compare", metavar="OLD.json", type=Path, help=text)
    add("--backend", metavar="NAME", help="cpu, cuda or cuda,cpu (default: all that are available)")
    text = "threads of the cpu backend (default: all cores)"
    add("--threads", metavar="T", type=arguments.threads, help=text)
    text = "run scripts that a file of --variant names, although you have not named them"
    add("--trust", action="store_true", help=text)
    bench_options.declare(parser)


def main(args: argparse.Namespace) -> int:
    """Run benchmarks, print rows as they are measured, and return the exit status."""
    args.what, instances = _split(args.what)
    if not args.what:
        return _list(args)
    if "gpus" in args.what and "of" not in args:
        args.of = tuple(dict.fromkeys(instances)) or GPU_INSTANCES
    elif instances:
        raise UsageError(
            f"--of {','.join(args.of)} with {', '.join(instances)}: both name instances. Specify"
            " all of them with --of"
        )
    with ExitStack() as folder:
        return _performed(args, folder)


def _list(args: argparse.Namespace) -> int:
    """Print the names of the benchmarks; reject options, which require a benchmark."""
    no_options = ("command", "what", "options", "naming", "first_values", "debug")
    given = [option(name) for name, value in vars(args).items() if value and name not in no_options]
    if given:
        raise UsageError(
            f"{' '.join(given)}: specify a benchmark as well. Known: {', '.join(BENCHES)}"
        )
    for name in BENCHES:
        show(f"{name:12}{benchmark(name)[0].partition(chr(10))[0]}")
    show("\nName one or several, such as: islands bench topologies")
    return 0


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of benchmarks, and the instances that follow `gpus`."""
    place = [*words, "gpus"].index("gpus")
    instances = [word for word in words[place:] if word not in BENCHES]
    return [word for word in words if word not in instances], instances


def _performed(args: argparse.Namespace, folder: ExitStack) -> int:
    # Waiting ranks would use cores that rank 0 needs, so collective benchmarks run first.
    names = sorted(dict.fromkeys(args.what), key=lambda name: name not in COLLECTIVE)
    collective = [name for name in names if name in COLLECTIVE]
    rank, _ = launched()
    if rank > 0 and not collective:
        return 0
    ranks = world() if collective else World()
    with ranks.guarded(show_traceback=args.debug):
        heartbeat = Heartbeat(sys.stderr if rank == 0 and not args.quiet else None)
        request = ranks.run_on_all(lambda: _requested(args, ranks, heartbeat))
        here = names if rank == 0 else collective
        # Benchmarks check their options here, before anything is printed.
        started = [(name, text, rows(request)) for name in here for text, rows in [benchmark(name)]]
        before = ranks.run_on_all(lambda: args.compare and read_tables(args.compare))
        stream = sys.stderr if args.json else sys.stdout

        def say(text: str) -> None:
            if rank == 0:
                heartbeat.print(text, stream)

        tables: dict[str, list[Row]] = {}
        if args.out is not None and {*LONG} & {*names}:  # such benchmarks store runs in the folder
            folder.callback(request.campaign.close)
            request.campaign.open(args.out)
        with suspending(), heartbeat:
            for number, (name, text, rows) in enumerate(started, 1):
                which = f" ({number} of {len(names)})" if len(names) > 1 else ""
                heartbeat.work = f"bench {name}{which}"
                _print(text, rows, tables, say)
    if rank > 0:
        return 0
    measured: dict[str, Any] = {**tables}
    if args.compare is not None:
        earlier, device = before
        say(f"\nCompared with {args.compare}{f' ({device})' if device else ''}")
        measured |= _comparison(compared(earlier, measured), say)
    command = CommandWords(sys.argv[1:]).without("--out")  # --out does not affect the tables
    measured = origin(tables, measurement(names, request), command) | measured
    if args.out is not None:
        write(args.out, tables, measured)
        end_work(args.out)
        say(f"\nWrote {args.out}")
    if args.json:
        show(json.dumps(measured))
    return 0


def _comparison(tables: dict[str, list[Row]], say: Callable[[str], None]) -> dict[str, Any]:
    """Print a comparison, and return its tables."""
    for rows in filter(None, tables.values()):
        say(f"\n{text_of(rows)}")
    for before, now in dict.fromkeys(tuple(row["devices"]) for row in tables["changes"]):
        if before != now:
            say(f"Before on {before}; now on {now}")
    if not any(tables.values()):
        say("The measurements have no rows in common.")
    return tables


def _print(
    text: str,
    rows: Iterator[Row],
    tables: dict[str, list[Row]],
    say: Callable[[str], None],
) -> None:
    """Run a benchmark; print its rows as they are measured, and add them to the tables."""
    say(("\n" if tables else "") + text)
    for row in rows:
        table = row.table
        if table.header and table.name not in tables:
            say(f"\n{table.header}")
        if table.header:
            say(row.line())
        tables.setdefault(table.name, []).append(row)


def _requested(args: argparse.Namespace, ranks: World, heartbeat: Heartbeat) -> BenchRequest:
    """Return the request; reject invalid options before the first measurement."""
    for name in args.what:
        if name not in BENCHES:
            raise UsageError(unknown("benchmark", name, BENCHES))
    bench_options.reject_unused(vars(args), args.what)
    require_installed(getattr(args, "rivals", ()))
    if args.out is not None:
        for name in args.what:
            if name in DRAWN:
                arguments.require_extra(f"bench {name} --out", "matplotlib")
    given: dict[str, Any] = {
        field.name: getattr(args, field.name)
        for field in fields(BenchRequest)
        if field.name in args
    }
    given |= {"world": ranks, "heartbeat": heartbeat, "backends": _backends(args.backend)}
    request = BenchRequest(**given)
    if args.out is not None and ranks.rank == 0:
        reject_other_measurement(args.out, measurement(args.what, request))
    return request


def _backends(names: str | None) -> list[str]:
    from islands.backends import BACKENDS, automatic

    if names is None:
        available, _ = automatic()
        return ["cpu"] if available == "cpu" else ["cuda", "cpu"]
    known = [name for name in BACKENDS if name != "auto"]
    for name in names.split(","):
        if name not in known:
            raise UsageError(unknown("backend", name, known))
    return list(dict.fromkeys(names.split(",")))
