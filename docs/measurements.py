"""Tables of the measurements in docs/measured for docs/generate, and the data for docs/plot.

A file is the output of `islands bench --json` or of docs/measure; a folder is the output of
`islands reproduce --out`. `docs/measure --show NAME` prints all tables of a file.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from islands.text import count

FOLDER = Path(__file__).with_name("measured")
NOTHING = "There are no measurements yet.\n"
MOST_ROWS = 10
"""Maximum number of rows in the table of missed instances in docs/figures.md."""
_RUNS, _ROWS, _MEANS, _RANKS = "quality_runs", "quality", "quality_means", "quality_ranks"
_GPUS = "gpus"
SPEED, GROWING = "generations/s", "evaluations/s"

Row = dict[str, Any]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _read(name: str, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


# Quality


def longest_runs(folder: Path = FOLDER) -> dict[str, list[Row]]:
    """Return the default runs on GPUs of each instance: the latest with the longest limit."""
    longest = dict[str, list[Row]]()
    files = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    for found in sorted(files, key=lambda each: each["provenance"]["date"]):
        mine = dict[str, list[Row]]()
        for run in found.get(_RUNS, ()):
            if (run["backend"], run["method"], run["is_known"]) == ("cuda", "default", True):
                mine.setdefault(run["instance"], []).append(run)
        for instance, runs in mine.items():
            if runs[0]["limit"] >= longest.get(instance, runs)[0]["limit"]:
                longest[instance] = runs
    return dict(sorted(longest.items()))


def solved(folder: Path = FOLDER) -> str:
    """Return the table of the default runs on GPUs, with one row per set."""
    sets = dict[str, list[list[Row]]]()
    for instance, runs in longest_runs(folder).items():
        sets.setdefault(instance.partition("/")[0], []).append(runs)
    if not sets:
        return NOTHING
    head = ("set", "n", "instances", "reached", "runs", "hits", "mean gap", "median time")
    return table((*head, "limit", "device"), (_row_of_set(*each) for each in sets.items()))


def _row_of_set(name: str, instances: list[list[Row]]) -> list[str]:
    runs = [run for each in instances for run in each]
    sizes, limits = ({run[key] for run in runs} for key in ("size", "limit"))
    best = [[gap(run) <= 0 for run in each] for each in instances]
    return [
        f"`{name}`",
        _range(sizes),
        str(len(instances)),
        str(sum(map(any, best))),
        str(len(runs)),
        str(sum(map(sum, best))),
        f"{fmean(map(gap, runs)):.4f} %",
        f"{median(run['seconds'] for run in runs):.3g} s",
        f"{_range(limits)} s",
        ", ".join(sorted({run["device"] for run in runs})),
    ]


def gap(run: Row) -> float:
    """Return the gap of a run to the best known value, in per cent."""
    cost, best = float(run["cost"]), float(run["reference"])
    worse = best - cost if run["maximise"] else cost - best
    return 100.0 * worse / (abs(best) or 100.0)


def _range(values: set[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:,g}" if low == high else f"{low:,g} to {high:,g}"


def missed(folder: Path = FOLDER) -> str:
    """Return the table of the largest gaps of instances whose best known value was not found."""
    best = [min(runs, key=gap) for runs in longest_runs(folder).values()]
    worst = sorted((run for run in best if gap(run) > 0), key=gap, reverse=True)
    if not worst:
        return NOTHING
    rows = [
        [f"`{run['instance']}`", f"{run['size']:,}", f"{gap(run):.4f} %", f"{run['limit']:g} s"]
        for run in worst[:MOST_ROWS]
    ]
    left = len(worst) - len(rows)
    more = f"\n{left} more instances have smaller gaps.\n" if left else ""
    return table(("instance", "n", "gap", "limit"), rows) + more


# Speed


class Speed(NamedTuple):
    """The throughput of an algorithm on a GPU and on a CPU."""

    algorithm: str
    instance: str
    counted: str
    gpu: float
    cpu: float
    threads: str
    """The number of CPU threads, such as "2 threads"."""


SPEEDS = (
    ("brkga", "speed-brkga", {"instance": "national/sw24978"}, "keys"),
    ("cellular", "speed-cellular", {"instance": "lipa50b"}, "evaluations"),
    ("de", "speed-de", {"instance": "qaplib/tai256c"}, "evaluations"),
    ("ga", "speed-ga", {"instance": "mknapcb9-00", "setting": "steady"}, "children"),
    ("pso", "speed-pso", {"instance": "gk/gk09"}, "evaluations"),
    ("eax", "speed-eax", {"instance": "national/sw24978"}, "children"),
    ("tempering", "tempering", {"instance": "qaplib/tai100a"}, "evaluations"),
    ("tabu search", "tabu", {"size": 100, "program": "kernel"}, "evaluations"),
)
"""Each algorithm, its measurements (`NAME-gpu` and `NAME-cpu`), their row, and the unit of work."""


def speeds(folder: Path = FOLDER) -> list[Speed]:
    """Return the speed of each algorithm that has been measured on a GPU and on a CPU."""

    def rate(name: str, wanted: Row, counted: str) -> float:
        found = _read(name, folder)
        [rows] = (each for each in found.values() if isinstance(each, list))
        row = [row for row in rows if wanted.items() <= row.items()][-1]
        key = f"{counted}_per_second"
        return float(row[key] if key in row else row[counted] / row["seconds"])

    return [
        Speed(
            algorithm,
            str(wanted.get("instance", f"random, n = {wanted.get('size')}")),
            counted,
            *(rate(f"{name}-{backend}", wanted, counted) for backend in ("gpu", "cpu")),
            _read(f"{name}-cpu", folder)["provenance"]["devices"][0].removeprefix("CPU, "),
        )
        for algorithm, name, wanted, counted in SPEEDS
        if all((folder / f"{name}-{backend}.json").exists() for backend in ("gpu", "cpu"))
    ]


def speed(folder: Path = FOLDER) -> str:
    """Return the table of speeds."""
    head = ("algorithm", "instance", "per second", "GPU", "CPU", "CPU threads", "GPU / CPU")
    rows = [
        [
            *(f"`{each.algorithm}`", f"`{each.instance}`", each.counted, count(each.gpu)),
            *(count(each.cpu), each.threads, f"{each.gpu / each.cpu:,.0f}"),
        ]
        for each in speeds(folder)
    ]
    return table(head, rows) if rows else NOTHING


# Comparisons


_CLAIMS = (
    ("xavier2019", "times", "mean speed-up over brkgaCuda", "mean of brkgaCuda's"),
    ("xavier2019", "values", "our mean is at most"),
    ("jardim2021", "implementations", "speed-up over the fastest", "seconds of the thesis'"),
    ("jardim2021", "literature", "average gap of the mean"),
    ("soca2010", "performance", "speed-up over the paper's GPU", "the paper's GPU seconds"),
    ("soca2010", "quality", "the best known value was reached", "best known value reached"),
    ("dantas2014", "times", "mean seconds of a run"),
    ("dantas2014", "islands", "with the evaluations of the paper, 8 ring"),
    ("munhao2019", "sac94", "speed-up over the paper's GPU", "the paper's milliseconds"),
    ("munhao2019", "orlib", "m1: mean gaps"),
)
"""The first words, now and in earlier versions, of the sentences below the tables of papers that
docs/figures.md shows."""


def papers(folder: Path = FOLDER) -> str:
    """Return a table with one sentence for each comparison of a paper with our results."""
    rows = []
    for paper, name, *words in _CLAIMS:
        path = folder / paper / f"{name}.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        rows += [[f"`{paper}/{name}`", line] for line in lines if line.startswith(tuple(words))][:1]
    return table(("experiment", "result"), rows) if rows else NOTHING


def rivals(folder: Path = FOLDER) -> str:
    """Return the table of mean results of islands and HiGHS, with equal time on one machine."""
    names = {"default": "islands", "highs": "HiGHS"}
    head = ("set", "instances", "program", "reached", "proved", "mean gap", "worst gap", "seconds")
    rows = [
        [
            *(f"`{each['group']}`", str(each["instances"]), names[each["method"]]),
            *(str(each["reached"]), str(each["proved"]), f"{each['mean_gap']:.4f} %"),
            *(f"{each['worst_gap']:.4f} %", f"{each['seconds']:.2f}"),
        ]
        for each in _read("knapsack-cpu", folder)[_MEANS]
        if " x " not in each["group"]
    ]
    return table(head, rows)


def models(folder: Path = FOLDER) -> str:
    """Return the table of mean gaps on models, of islands and of other programs with equal time."""
    names = {"highs": "HiGHS", "cpsat": "CP-SAT"}
    names |= {"dwave-annealing": "annealing of D-Wave", "dwave-tabu": "tabu of D-Wave"}
    sets = dict[str, dict[str, dict[str, Row]]]()
    for path in sorted(folder.glob("models-*-cpu.json")):
        for run in json.loads(path.read_text(encoding="utf-8"))[_RUNS]:
            runs = sets.setdefault(path.stem.split("-")[1], {})
            runs.setdefault(run["method"], {})[run["instance"]] = run
    rows = []
    for name, runs in sets.items():
        own = runs.pop("default")
        mean = f"{fmean(map(gap, own.values())):.2f} %"
        rows += [[f"`{name}`", str(len(own)), mean, "-", "", ""]] if not runs else []
        for method, each in runs.items():
            gaps = [(gap(own[at]), gap(run)) for at, run in each.items() if run["cost"] is not None]
            better, equal = (sum(a < b for a, b in gaps), sum(a == b for a, b in gaps))
            theirs = f"{fmean(b for _, b in gaps):.2f} %"
            rows.append([f"`{name}`", str(len(gaps)), mean, names[method], theirs])
            rows[-1].append(f"{better}, {equal}, {len(gaps) - better - equal}")
    head = ("set", "instances", "islands", "program", "its mean gap")
    return table((*head, "better, equal, worse"), rows)


def knapsacks(folder: Path = FOLDER) -> str:
    """Return the table of means for each size of OR-Library's knapsacks, with defaults on a GPU."""
    means = _read("knapsack-orlib-gpu", folder)[_MEANS]
    rows = [
        [
            *(each["group"].removeprefix("orlib ").replace("orlib", "all"), str(each["instances"])),
            *(str(each["reached"]), f"{each['mean_gap']:.4f} %", f"{each['worst_gap']:.4f} %"),
            f"{each['seconds']:.2f}",
        ]
        for each in means
    ]
    head = ("constraints x items", "instances", "at the best known value")
    return table((*head, "mean gap", "worst gap", "mean seconds"), rows)


# Several GPUs


def scaling(folder: Path = FOLDER) -> list[Row]:
    """Return the rows of strong scaling: the same islands on more GPUs."""
    rows: list[Row] = _read("migration-gpus", folder)["scaling"]
    return [row for row in rows if row["scaling"] == "strong"]


def several_gpus(folder: Path = FOLDER) -> str:
    """Return the table of the speed of the same run on one and on several GPUs."""
    head = ("instance", "n", "delay", "GPUs", "generations/s", "speed-up")
    rows = [
        [
            *(f"`{row['instance']}`", f"{row['size']:,}", str(row["delay"]), str(row["ranks"])),
            *(f"{row['rate']:,.0f}", f"{row['of_one']:.2f}"),
        ]
        for row in scaling(folder)
    ]
    return table(head, rows)


def shared_work(folder: Path = FOLDER) -> list[tuple[str, Row, dict[int, float]]]:
    """Return the results of `bench gpus`: the quantity, a row, and its value by number of GPUs.

    Quantities are generations per second (evaluations per second if the number of islands grows
    with that of GPUs) and the median seconds of several runs to a target.
    """
    found = dict[tuple[str, str, str], tuple[Row, dict[int, float]]]()
    for path in sorted(folder.glob("gpus-*.json")):
        rows = json.loads(path.read_text(encoding="utf-8"))
        grows = len({row["islands"] for row in rows[f"{_GPUS}_speed"]}) > 1
        what, of = (GROWING, "evaluations") if grows else (SPEED, "generations")
        for row in rows[f"{_GPUS}_speed"]:
            key = what, row["instance"], row["method"]
            found.setdefault(key, (row, {}))[1][row["ranks"]] = row[f"{of}_per_second"]
        for row in rows.get(f"{_GPUS}_targets", ()):
            if row["seconds_50"] is not None and row["runs"] > 1:
                key = f"seconds to {row['target']}", row["instance"], row["method"]
                found.setdefault(key, (row, {}))[1][row["ranks"]] = row["seconds_50"]
    return [(what, row, values) for (what, *_), (row, values) in sorted(found.items())]


def teams(folder: Path = FOLDER) -> str:
    """Return the table of speed-ups with several GPUs, which share islands or divide them."""
    counts = (1, 2, 4)
    head = ("measured", "instance", "method", "1 GPU", "2 GPUs", "4 GPUs")
    rows = []
    for what, row, values in shared_work(folder):
        if 1 not in values:
            continue
        shown = [
            *(_figure(values[ranks]) if ranks in values else "" for ranks in counts),
            *(f"{gained(what, values, ranks):.2f}" if ranks in values else "" for ranks in (2, 4)),
        ]
        method = row["method"].removeprefix("algorithm=")
        rows.append([what, f"`{row['instance'].removesuffix('.tsp')}`", method, *shown])
    return table((*head, "times with 2", "times with 4"), rows)


def _figure(value: float) -> str:
    if value >= 1e6:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def gained(what: str, values: dict[int, float], ranks: int) -> float:
    """Return the speed-up of several GPUs over one."""
    ratio = values[ranks] / values[1]
    return ratio if what in (SPEED, GROWING) else 1 / ratio


# Details


def recording(folder: Path = FOLDER) -> str:
    """Return the table of the time that writing a folder takes."""
    rows = [
        [
            *(row["device"], f"`{row['instance']}`", row["settings"], f"{row['rows']:,}"),
            *(f"{row['ratio']:.4f}", f"{row['spread']:.1%}", f"{row['more_milliseconds']:.1f} ms"),
        ]
        for name in ("recording-cpu", "recording-gpu")
        for row in _read(name, folder)["recording"]
    ]
    head = ("device", "instance", "settings", "rows", "ratio", "spread", "before and after")
    return table(head, rows)


def files(folder: Path = FOLDER) -> str:
    """Return links to all measurements, by the first words of their names."""
    links = dict[str, list[str]]()
    for path in sorted([*folder.glob("*.json"), *folder.glob("*/provenance.json")]):
        name = path.stem if path.parent == folder else path.parent.name
        where = path.name if path.parent == folder else name
        links.setdefault(name.partition("-")[0], []).append(f"[{name}](measured/{where})")
    return "".join(f"- {', '.join(each)}\n" for each in links.values()) or NOTHING


def figures(prefix: str, folder: Path = FOLDER) -> str:
    """Return the tables of the files with a prefix, as they were printed.

    For `bench quality`, these are the means, or the rows if there is a single instance, and the
    ranks of methods.
    """
    parts = []
    for path in sorted(folder.glob(f"{prefix}-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        printed = found["printed"]
        is_single = len({row["instance"] for row in found.get(_ROWS, ())}) == 1
        names = (_ROWS if is_single else _MEANS, _RANKS)
        shown = [printed[name] for name in names if name in printed] or list(printed.values())
        made = found["provenance"]
        heading = f"{_commands(made)}\n({_place(made)}):\n"
        parts.append("\n".join([heading, *map(_block, shown)]))
    return "\n".join(parts) or NOTHING


def shown(name: str, folder: Path = FOLDER) -> str:
    """Return all tables of a measurement as text, with its commands, date and devices."""
    if (folder / name).is_dir():
        made = json.loads((folder / name / "provenance.json").read_text(encoding="utf-8"))
        texts = [each.read_text(encoding="utf-8") for each in sorted((folder / name).glob("*.txt"))]
    else:
        found = _read(name, folder)
        made, texts = found["provenance"], list(found["printed"].values())
    heading = "\n".join([*command_lines(made), f"{_facts(made)}."])
    return "\n\n".join([heading, *(each.rstrip() for each in texts)])


def _block(text: str) -> str:
    """Return a text as a code block, unless it is a Markdown table."""
    return text if text.startswith("| ") else f"```text\n{text.rstrip()}\n```\n"


def command_lines(made: dict[str, Any]) -> list[str]:
    """Return the command lines of a measurement, which docs/measure records."""
    return list(made.get("lines") or [f"islands {shlex.join(made['command'])}"])


def _commands(made: dict[str, Any]) -> str:
    """Return the command of a measurement; if there are several, its table lists them."""
    lines = command_lines(made)
    return f"`{lines[0]}`" if len(lines) == 1 else "These commands"


def _place(made: dict[str, Any]) -> str:
    """Return the date, the commit and the devices of the ranks."""
    commit = made["commit"] or "unknown"
    changes = ", with changes" if made["changed"] else ""
    ranks = f" on each of {made['ranks']} ranks" if made.get("ranks", 1) > 1 else ""
    devices = ", ".join(made["devices"])
    return f"{made['date'][:10]}, commit `{commit[:12]}`{changes}; {devices}{ranks}"


def _facts(made: dict[str, Any]) -> str:
    """Return the date, the commit, the devices, the versions and the time of the commands."""

    def facts() -> Iterator[str]:
        yield _place(made)
        if made.get("driver"):
            yield f"driver {made['driver']}"
        versions = (f"{name} {version}" for name, version in made["versions"].items())
        yield ", ".join([f"islands {made['islands']}", *versions])
        if "seconds" in made:
            processor = made.get("processor_seconds")
            more = f", and {processor:.0f} s of processor time" if processor is not None else ""
            yield f"took {made['seconds']:.0f} s{more}"

    return "; ".join(facts())
