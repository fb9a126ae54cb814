"""The options of sbatch that a submitted job needs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from islands.errors import UsageError
from islands.slurm.gpus import Gpus, take_gpus
from islands.slurm.time_limit import signal_before

_SAME_NAMES = ("cpus_per_task", "partition", "account", "qos", "constraint", "mem", "job_name")
_RANKS = "--gpus-per-node G, or --backend cpu --ranks-per-node R"
_RESERVED = {
    "array": "--array SEEDS or --over KEY=A,B,C",
    "nodes": "--nodes N",
    **dict.fromkeys(("ntasks", "ntasks-per-node"), _RANKS),
    **dict.fromkeys(("gpus", "gpus-per-node", "gpus-per-task"), "--gpus-per-node [TYPE:]G"),
    **dict.fromkeys(("output", "error"), "--out DIR, as the output is in DIR/slurm"),
    "test-only": "--dry-run",
    "parsable": "--json",
    "wrap": "the options of islands run",
    "wait": "islands watch DIR afterwards",
}
"""Options of sbatch that `islands submit` sets, and the options to use instead."""
_SIGNAL = re.compile(r"R?B:(SIG)?(USR1|10)(@\d+)?", re.IGNORECASE)


def directives_from(
    args: argparse.Namespace, of_site: Mapping[str, str], *, on_cpu: bool
) -> dict[str, str]:
    """Return the options of sbatch: the site's options, overridden by the command line."""
    directives = dict(of_site)
    try:
        gpus = take_gpus(directives, args.nodes)
    except ValueError as error:
        raise UsageError(f"site.env: its request for GPUs {error}. Correct it") from error
    if on_cpu:
        _refuse_gpus(args)
        ranks = args.ranks_per_node or 1
    else:
        gpus = _requested(args, gpus)
        ranks = gpus.number
        directives["gpus-per-node"] = str(gpus)
    directives |= {"nodes": str(args.nodes), "ntasks-per-node": str(ranks)}
    if args.time:
        directives["time"] = args.time
    for name in _SAME_NAMES:
        if getattr(args, name) is not None:
            directives[name.replace("_", "-")] = str(getattr(args, name))
    directives |= dict(map(_option, args.sbatch))
    if not _SIGNAL.fullmatch(directives.get("signal", "B:USR1")):
        raise UsageError(
            f"signal={directives['signal']}: the batch script must receive SIGUSR1, which it passes"
            " on to the ranks. Write signal=B:USR1@SECONDS"
        )
    if "time" in directives and (signal := signal_before(directives["time"])) is not None:
        directives.setdefault("signal", signal)
    return {"chdir": str(Path.cwd())} | directives


def _refuse_gpus(args: argparse.Namespace) -> None:
    if args.gpus_per_node is not None and args.gpus_per_node.number:
        raise UsageError(
            f"--gpus-per-node {args.gpus_per_node} with --backend cpu: the run would not use them."
            " Leave one of them out"
        )


def _requested(args: argparse.Namespace, of_site: Gpus | None) -> Gpus:
    """Return the GPUs of each node, of the site's type if the command line names none."""
    if args.ranks_per_node:
        raise UsageError(
            f"--ranks-per-node {args.ranks_per_node}: each rank uses one GPU. Write"
            " --gpus-per-node, or add --backend cpu"
        )
    own: Gpus | None = args.gpus_per_node
    if own is None:
        own = of_site or Gpus(1)
    if own.number == 0:
        raise UsageError("0 GPUs on each node: add --backend cpu, or request at least one")
    if not own.type and of_site is not None:
        return Gpus(own.number, of_site.type)
    return own


def _option(text: str) -> tuple[str, str]:
    """Return name and value of `--sbatch NAME=VALUE`; refuse names that have their own option."""
    name, equals, value = text.strip().removeprefix("--").partition("=")
    written = f"--sbatch {text}"
    if not name or (equals and not value) or any(letter.isspace() for letter in name):
        raise UsageError(f"{written!r}: write NAME or NAME=VALUE, such as nodelist=n1")
    if len(name.lstrip("-")) == 1:
        raise UsageError(f"{written}: write the long name, such as nodelist=n1")
    if name in _RESERVED:
        raise UsageError(f"{written}: islands submit sets this option. Use {_RESERVED[name]}")
    if name == "gres" and any(each.startswith("gpu") for each in value.split(",")):
        raise UsageError(f"{written}: use --gpus-per-node [TYPE:]G for GPUs")
    return name, value
