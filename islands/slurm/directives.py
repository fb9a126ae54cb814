"""The options of sbatch that a submitted job needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from islands.errors import UsageError
from islands.slurm.time_limit import seconds_of

_NOTICE_SECONDS = 120
"""How long before its time limit a job writes a checkpoint; a quarter of the limit if shorter."""
_SAME_NAMES = ("cpus_per_task", "partition", "account", "qos", "constraint", "mem", "job_name")


def ranks_of_node(args: argparse.Namespace, site_gpus: str | None) -> int:
    """Return the ranks of each node: one for each GPU."""
    if args.backend == "cpu" or args.gpus_per_node == 0:
        return args.ranks_per_node or 1
    return args.gpus_per_node or (int(site_gpus) if site_gpus and site_gpus.isdigit() else 1)


def directives_from(args: argparse.Namespace, of_site: dict[str, str]) -> dict[str, str]:
    """Return the options of sbatch: those of the site, under those of the command line."""
    directives = dict(of_site)
    is_cpu = args.backend == "cpu" or args.gpus_per_node == 0
    if args.gpus_per_node and args.backend == "cpu":
        raise UsageError(
            f"--gpus-per-node {args.gpus_per_node} with --backend cpu: the run would not use them."
            " Leave one of them out"
        )
    if args.ranks_per_node and not is_cpu:
        raise UsageError(
            f"--ranks-per-node {args.ranks_per_node}: each rank uses one GPU. Write"
            " --gpus-per-node, or add --backend cpu"
        )
    ranks = ranks_of_node(args, of_site.get("gpus-per-node"))
    if is_cpu:
        directives.pop("gpus-per-node", None)
    else:
        directives["gpus-per-node"] = str(ranks)
    directives |= {"nodes": str(args.nodes), "ntasks-per-node": str(ranks)}
    if args.time:
        directives["time"] = args.time
        limit = seconds_of(args.time)
        directives["signal"] = (
            f"B:USR1@{max(1, min(_NOTICE_SECONDS, limit // 4))}"  # of the batch script alone
        )
    for name in _SAME_NAMES:
        if getattr(args, name) is not None:
            directives[name.replace("_", "-")] = str(getattr(args, name))
    for each in args.sbatch:
        name, _, value = each.lstrip("-").partition("=")
        directives[name] = value
    return {"chdir": str(Path.cwd())} | directives
