"""Run many instances in one command, and go on with those that are left."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from islands.custom.trust import Trust
from islands.errors import UsageError
from islands.parallel import RanksLostError
from islands.text import option, show
from islands.untrusted import followed

if TYPE_CHECKING:
    from islands.campaign.batch import BatchPlan
    from islands.parallel import World
    from islands.run.build import RankOptions
    from islands.run.single import Output

_OF_ONE_RUN = ("plot", "asynchronous", "fault_tolerant", "start")
"""The options that instances on one thread each cannot have."""


def run_batch(
    args: argparse.Namespace,
    options: Mapping[str, Any],
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve all instances that the command names."""
    from islands.campaign.batch import BatchPlan
    from islands.instances.several import listed

    for name in _OF_ONE_RUN:
        if getattr(args, name):
            word = "async" if name == "asynchronous" else name.replace("_", "-")
            raise UsageError(f"--{word} with --batch: is for single runs. Leave one of them out")

    def planned() -> BatchPlan:
        trust = Trust(is_full=args.trust).signed_in(args.config, followed)
        names = listed(args.instances)
        if not names:
            raise UsageError(
                "--batch: no instances. Name some, such as 'orlib/mknapcb1-*', a folder, @FILE with"
                " a list, or - for standard input"
            )
        own = {name: value for name, value in options.items() if name != "instance"}
        return BatchPlan(names, args.runs or 1, own, args.config, trust)

    # Only rank 0 has the standard input.
    plan = ranks.from_first(planned)
    return _ended(plan, args, ranks, output, rank_options)


def resume_batch(
    args: argparse.Namespace,
    options: Mapping[str, Any],
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve the instances of a folder that are left."""
    from islands.campaign.batch import BatchPlan

    if other := sorted({*options} - {"backend", "threads"}):
        raise UsageError(
            f"{option(other[0])}: a batch keeps its settings. Leave it out, or begin another batch"
        )
    trust = Trust(is_full=args.trust)
    plan = ranks.from_first(lambda: BatchPlan.of_folder(args.folder, options, trust))
    return _ended(plan, args, ranks, output, rank_options)


def _ended(
    plan: BatchPlan,
    args: argparse.Namespace,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    from islands.campaign import batch
    from islands.run.signals import INTERRUPTED_STATUS, SUSPENDED_STATUS

    def line(made: Mapping[str, Any]) -> None:
        show(json.dumps(made))
        sys.stdout.flush()

    end = batch.run_batch(plan, ranks, output, rank_options, lines=line if args.json else None)
    with suppress(RanksLostError):  # everything is written
        ranks.barrier()
    return batch.status_of(end, INTERRUPTED_STATUS, SUSPENDED_STATUS)
