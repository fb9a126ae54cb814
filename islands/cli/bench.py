"""Measure the throughput of algorithms on this machine, on the CPU and on a GPU in one run."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib import import_module

from islands.bench import BENCHES
from islands.cli import arguments
from islands.errors import UsageError
from islands.text import unknown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands bench`."""
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"{', '.join(BENCHES)} (all)")
    parser.add_argument("--backend", metavar="NAME", help="cpu or cuda alone (all there are)")
    parser.add_argument(
        "--threads", metavar="T", type=arguments.threads, help="threads of the cpu (every core)"
    )
    parser.add_argument(
        "--generations", metavar="G", type=int, default=1000, help="generations a repeat (1000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Measure, print a row as each is done, and return the exit status."""
    if args.generations < 1:
        raise UsageError(f"--generations {args.generations}: must be at least 1")
    for name in args.what:
        if name not in BENCHES:
            raise UsageError(unknown("benchmark", name, BENCHES))
    stream = sys.stderr if args.json else sys.stdout
    measured: dict[str, list[dict[str, object]]] = {}
    for name in args.what or BENCHES:
        module = import_module(BENCHES[name])
        print((module.__doc__ or "").strip(), "", module.HEADER, sep="\n", file=stream)
        measured[name] = []
        for row in module.measure(_backends(args.backend), args.threads, args.generations):
            print(row.line(), file=stream, flush=True)
            measured[name].append(asdict(row))
    if args.json:
        print(json.dumps(measured))
    return 0


def _backends(asked: str | None) -> list[str]:
    from islands.backends import BACKENDS, automatic

    if asked is None:
        found, _ = automatic()
        return ["cpu"] if found == "cpu" else ["cuda", "cpu"]
    if asked not in BACKENDS or asked == "auto":
        raise UsageError(unknown("backend", asked, [name for name in BACKENDS if name != "auto"]))
    return [asked]
