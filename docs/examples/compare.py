"""Solve an instance of each example, and print a Markdown table of costs, bounds and gaps.

    python compare.py                            # default settings, 10 s each: about 2 minutes
    python compare.py --backend cuda --out results
    python compare.py --algorithms               # also each algorithm: 8 minutes
    python compare.py --algorithms --evaluations 1000000

With --out, the table and all results are also written to a folder after each instance. If SciPy is
installed, its HiGHS solves some of the instances, with the same time limit.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from bounds import Instance, instances

import islands

COLUMNS: dict[str, dict[str, Any]] = {
    **{name: {"algorithm": name} for name in ("brkga", "de", "ga", "cellular", "pso")},
    "de, jde": {"algorithm": "de", "adaptation": "jde"},
}


class Table:
    """A table that is printed, and written to a folder, row by row."""

    def __init__(self, folder: Path | None, *head: str) -> None:
        self.folder, self.lines = folder, list[str]()
        self.results = list[dict[str, Any]]()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.add(head)
        self.add(["---"] * len(head))

    def add(self, cells: Any) -> None:
        """Add a row."""
        self.lines.append(f"| {' | '.join(cells)} |")
        print(self.lines[-1], flush=True)
        if self.folder is not None:
            (self.folder / "table.md").write_text("\n".join([*self.lines, ""]))
            (self.folder / "results.json").write_text(json.dumps(self.results, indent=1) + "\n")


def solve(table: Table, instance: Instance, settings: dict[str, Any], seeds: int) -> str:
    """Solve an instance with several seeds; return the mean cost, the range and the gap."""
    costs = []
    for seed in range(1, seeds + 1):
        try:
            result = islands.solve(instance.problem, seed=seed, **settings)
        except islands.IslandsError as error:
            print(f"{instance.problem.instance}: {error}", file=sys.stderr)
            return "error"
        assert result.cost is not None
        costs.append(result.cost)
        row = {"problem": instance.problem.instance, "cost": result.cost, "digest": result.digest}
        row |= {"known": instance.known, "meaning": instance.meaning, "highs": instance.highs}
        row |= {"generations": result.generations, "evaluations": result.evaluations}
        table.results.append(row | {"seconds": result.seconds, "settings": result.settings})
    spread = f" ({min(costs):,.5g} to {max(costs):,.5g})" if seeds > 1 else ""
    known = instance.known
    gap = abs(np.mean(costs) - known) / abs(known) if known else math.nan
    return f"{_number(float(np.mean(costs)))}{spread}" + ("" if math.isnan(gap) else f", {gap:.1%}")


def _number(value: float | None) -> str:
    """Return a number, or a dash if there is none."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def main() -> int:
    """Print the table; return 1 if a run failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, help="time limit of each run; default 10")
    parser.add_argument("--evaluations", type=float, help="limit of each run, instead of --seconds")
    parser.add_argument("--population", type=int, default=64, help="with --algorithms")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--algorithms", action="store_true")
    parser.add_argument("--out", type=Path, help="folder of table.md and results.json")
    options = vars(parser.parse_args())
    seeds, folder = options.pop("seeds"), options.pop("out")
    population, has_algorithms = options.pop("population"), options.pop("algorithms")
    columns: dict[str, dict[str, Any]] = {"defaults": {}}
    if has_algorithms:
        columns |= {name: {"population": population, **values} for name, values in COLUMNS.items()}
    if options["evaluations"] is None and options["seconds"] is None:
        options["seconds"] = 10.0
    settings = {name: value for name, value in options.items() if value is not None}
    table = Table(folder, "problem", "items", "compared with", "value", "HiGHS", *columns)
    for instance in instances(settings.get("seconds", 10.0)):
        costs = [solve(table, instance, column | settings, seeds) for column in columns.values()]
        row = [instance.problem.instance, str(instance.problem.size), instance.meaning]
        table.add([*row, _number(instance.known), _number(instance.highs), *costs])
    return int(any("error" in line for line in table.lines))


if __name__ == "__main__":
    sys.exit(main())
