"""Try configurations on instances and seeds, at random or on a grid, and rank them."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from islands.cells import METRICS
from islands.cli import arguments
from islands.cli.run import add_output, add_settings, of_arguments, output_of
from islands.errors import Suspended, UsageError
from islands.parallel import InterruptedTogether, world
from islands.text import either, show

if TYPE_CHECKING:
    from islands.cells.store import Store
    from islands.cells.tune import TuneResult
    from islands.cells.tuning import Tuning

_CONFIGURATIONS, _STEPS, _RUNS = 10, 3, 5

_EXAMPLES = """
values of --over:
  rho=0.5..0.9            a range of numbers; of integers for a setting with integers
  population=16..1024:log a range with logarithmic scale
  selection=random,best   a list of values, also for preset, algorithm and encoding

examples:
  islands tune qaplib/nug20 qaplib/tai20a --over F=0.2..1 --over Cr=0..1 --algorithm de
  islands tune demo/qap --algorithm cellular --over neighbours=2,4,8 --grid 5 --runs 10
  islands tune tsplib/eil51 --algorithm brkga --over rho=0.5..0.9 --stop seconds=5 --out tuned
  islands run tsplib/eil51 --config tuned/best.toml
  islands tune sac94/weish30 --preset munhao2019-m1 --over c1=0.5..2 --over penalty=100..500

Configuration 0 has the given settings. To continue an interrupted tuning with --out, repeat the
command; it may have more configurations or instances.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands tune`."""
    parser.epilog = _EXAMPLES
    text = "instances: set/name, a bare name or a path"
    name = arguments.NAME
    parser.add_argument("instances", nargs="*", metavar="INSTANCE", type=name, help=text)
    what = parser.add_argument_group("configurations")
    add = what.add_argument
    text = "values of a setting: A..B, A..B:log or a,b,c; repeatable"
    values = arguments.CHOICES
    add("--over", metavar="KEY=VALUES", action="append", type=values, default=[], help=text)
    text = f"number of random configurations, drawn from the seed (default: {_CONFIGURATIONS})"
    add("--configurations", metavar="N", type=arguments.whole_number(), help=text)
    text = f"all combinations instead, with STEPS values per range (default: {_STEPS})"
    steps = arguments.whole_number()
    add("--grid", metavar="STEPS", type=steps, nargs="?", const=_STEPS, help=text)
    text = "runs per configuration and instance, with seeds S, S+1, ..."
    text += f" (default: {_RUNS})"
    add("--runs", metavar="R", type=arguments.runs(f"{_RUNS}"), default=_RUNS, help=text)
    text = f"metric to average and test: {', '.join(METRICS)} (default: {METRICS[0]})"
    add("--metric", metavar="NAME", default=METRICS[0], help=text)
    group = parser.add_argument_group("common settings (defaults < preset < --config < options)")
    add_settings(group)
    text = "stopping criterion of each run; repeatable. Runs of a configuration that share"
    text += " launches share the time limit; if some runs cannot, they run one after another"
    group.add_argument("--stop", metavar="KIND=VALUE", action="append", help=text)
    group.add_argument("--backend", metavar="NAME", help="auto, cpu or cuda")
    text = "threads of the cpu backend (default: all cores)"
    group.add_argument("--threads", metavar="T", type=arguments.threads, help=text)
    # This option is rejected with a specific message.
    group.add_argument("--colony", action="append", help=argparse.SUPPRESS)
    group.set_defaults(start=None)
    output = parser.add_argument_group("output")
    add = output.add_argument
    text = "folder for the files of the tuning (default: runs/tune-DATE-TIME)"
    add("--out", metavar="DIR", type=arguments.folder, help=text)
    add("--force", action="store_true", help="overwrite a previous tuning in --out")
    add_output(output)


def main(args: argparse.Namespace) -> int:
    """Tune, print the ranking and return the exit status."""
    from islands.cells.campaign import Campaign
    from islands.cells.ranking import table
    from islands.cells.tune import tune
    from islands.display.heartbeat import Heartbeat
    from islands.engine.signals import INTERRUPTED_STATUS
    from islands.record.folder import BEST, RANKING, TUNING_TABLE, FolderKind

    output = output_of(args, args.out, force=args.force)
    ranks = world()
    heartbeat = Heartbeat(sys.stderr if ranks.rank == 0 and not args.quiet else None, "tune")
    with ranks.guarded(show_traceback=args.debug):
        campaign = Campaign(ranks, heartbeat, FolderKind.TUNING)
        try:
            tuning = ranks.run_on_all(lambda: _tuning(args))
            with heartbeat:
                done = tune(tuning, output, campaign)
        except Suspended:
            return Suspended.status
        except InterruptedTogether:
            if ranks.size > 1:  # the interrupt has been reported
                return INTERRUPTED_STATUS
            raise
    if ranks.rank > 0:
        return 0
    _write_provenance(done, campaign.store)
    lines = [("" if args.quiet else "\n") + table(done.ranking)]
    lines += [f"Left out: {reason}" for reason in done.left_out.values()]
    if rejected := tuning.candidates.rejected:
        lines.append(f"{rejected} others are invalid; the last one: {tuning.candidates.rejection}")
    lines.append(f"\nWrote {done.folder}: {TUNING_TABLE}, {RANKING}, {BEST}")
    show("\n".join(lines), output.stream)
    if args.json:
        show(done.to_json())
    return 0


def _tuning(args: argparse.Namespace) -> Tuning:
    """Return the planned tuning; reject invalid options."""
    from islands.cells.tuning import Base, Tuning

    arguments.require_extra("tune", "scipy")
    if args.metric not in METRICS:
        raise UsageError(f"--metric {args.metric}: must be {either(METRICS)}")
    if args.grid is not None and args.configurations is not None:
        raise UsageError(
            "--grid with --configurations: a grid determines the number. Leave one of them out"
        )
    given = {key: value for key, value in of_arguments(args).options.items() if key != "instance"}
    return Tuning.of(
        Base(given, args.config),
        args.instances,
        args.over,
        runs=args.runs,
        configurations=args.configurations or _CONFIGURATIONS,
        steps=args.grid,
        metric=args.metric,
    )


def _write_provenance(done: TuneResult, store: Store) -> None:
    """Write the origin of the ranking; keep that of earlier commands if there are no new rows."""
    from islands.doctor.nvidia import driver
    from islands.record.folder import PROVENANCE
    from islands.record.provenance import provenance, write_provenance
    from islands.untrusted import bounded_text, parsing

    path = done.folder / PROVENANCE
    if path.exists() and not store.has_new:
        with parsing(path):
            origin = dict(json.loads(bounded_text(path)))
    else:
        origin = {**provenance(), "driver": driver(), "seconds": store.seconds()}
    write_provenance(path, {**origin, "metric": done.ranking.metric, "command": sys.argv[1:]})
