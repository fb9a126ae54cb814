"""Tables of measurements in docs/measured, for docs/generate.

A file is the output of `islands bench --json` or of docs/measure, a folder that of
`islands reproduce --out`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

from islands.bench.quality_compare import Change, changes
from islands.bench.quality_runs import read_rows

FOLDER = Path(__file__).with_name("measured")
NOTHING = "There are no measurements yet.\n"
_RUNS, _ROWS, _MEANS, _RANKS = "quality_runs", "quality", "quality_means", "quality_ranks"
_HEAD = [
    *("set", "n", "instances", "reached", "runs", "hits", "mean gap", "median time"),
    *("limit", "device"),
]
"""The columns of the table of default runs."""
_MOST_SENTENCES = 12
"""Sentences of a table that the page of figures shows; the page of measurements has all."""


def measured(folder: Path = FOLDER) -> str:
    """Return all measurements in a folder, each with the command that made it."""
    parts = []
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        blocks = map(_block, found["printed"].values())
        parts.append("\n".join([_heading(path.stem, found["provenance"]), *blocks]))
    for name, made, texts in _experiments(folder):
        parts.append("\n".join([_heading(name, made), *(_block(text) for _, text in texts)]))
    return "\n".join(parts) or NOTHING


def figures(prefix: str, folder: Path = FOLDER) -> str:
    """Return the tables of the files with a prefix.

    Of the quality of solutions, these are the means, or the rows of a single instance, and the
    ranks of methods; the page of measurements has all tables. Several GPUs are compared with one.
    """
    parts = []
    for path in sorted(folder.glob(f"{prefix}-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        printed = found["printed"]
        is_single = len({row["instance"] for row in found.get(_ROWS, ())}) == 1
        names = (_ROWS if is_single else _MEANS, _RANKS)
        shown = [printed[name] for name in names if name in printed] or list(printed.values())
        one = path.with_name(f"{path.stem.removesuffix('s')}.json")
        if path.stem.endswith("-gpus") and one.exists() and _RUNS in found:
            shown.append(_changes(json.loads(one.read_text(encoding="utf-8")), found))
        parts.append(_with_command(found["provenance"], map(_block, shown)))
    return "\n".join(parts) or NOTHING


def _changes(one: dict[str, Any], several: dict[str, Any]) -> str:
    """Return the table that `islands bench --compare` prints, of one GPU and several."""
    found = changes(read_rows(one[_RUNS]), read_rows(several[_RUNS]))
    lines = [Change.HEADER, *(each.line() for each in found)]
    return "\n".join(["Before: one GPU. Now: several.", *lines])


def papers(folder: Path = FOLDER) -> str:
    """Return what follows the rows of each table of the experiments in a folder."""
    return (
        "\n".join(_with_command(made, _sentences(texts)) for _, made, texts in _experiments(folder))
        or NOTHING
    )


def solved(folder: Path = FOLDER) -> str:
    """Return how the default runs on GPUs solve each set; of an instance, the last longest runs."""
    longest = dict[str, list[dict[str, Any]]]()
    files = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    for found in sorted(files, key=lambda each: each["provenance"]["date"]):
        mine = dict[str, list[dict[str, Any]]]()
        for run in found.get(_RUNS, ()):
            if (run["backend"], run["method"], run["is_known"]) == ("cuda", "default", True):
                mine.setdefault(run["instance"], []).append(run)
        for instance, runs in mine.items():
            if runs[0]["limit"] >= longest.get(instance, runs)[0]["limit"]:
                longest[instance] = runs
    sets = dict[str, list[list[dict[str, Any]]]]()
    for instance, runs in sorted(longest.items()):
        sets.setdefault(instance.partition("/")[0], []).append(runs)
    if not sets:
        return NOTHING
    lines = [_HEAD, ["---"] * len(_HEAD), *(_row_of_set(*each) for each in sets.items())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row_of_set(name: str, instances: list[list[dict[str, Any]]]) -> list[str]:
    runs = [run for each in instances for run in each]
    gaps = [_gap(run) for run in runs]
    sizes, limits = ({run[key] for run in runs} for key in ("size", "limit"))
    best = [[gap <= 0 for gap in map(_gap, each)] for each in instances]
    return [
        f"`{name}`",
        _range(sizes),
        str(len(instances)),
        str(sum(map(any, best))),
        str(len(runs)),
        str(sum(map(sum, best))),
        f"{fmean(gaps):.4f} %",
        f"{median(run['seconds'] for run in runs):.3g} s",
        f"{_range(limits)} s",
        ", ".join(sorted({run["device"] for run in runs})),
    ]


def _gap(run: dict[str, Any]) -> float:
    """Return the gap of a run to the best known value, in per cent."""
    cost, best = float(run["cost"]), float(run["reference"])
    worse = best - cost if run["maximise"] else cost - best
    return 100.0 * worse / (abs(best) or 100.0)


def _range(values: set[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:,g}" if low == high else f"{low:,g} to {high:,g}"


def _sentences(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in texts:
        title = text.partition("\n")[0].partition("   ")[0]
        sentences = text.rstrip().rpartition("\n\n")[2].splitlines()
        left = len(sentences) - _MOST_SENTENCES
        more = [f"and {left} lines more in [measured results](measured.md)"] if left > 0 else []
        lines = [*sentences[:_MOST_SENTENCES], *more]
        yield "\n".join([f"`{name}`, {title}:\n", *(f"- {each}" for each in lines), ""])


def _experiments(folder: Path) -> Iterator[tuple[str, dict[str, Any], list[tuple[str, str]]]]:
    """Yield the name of each experiment, what made it, and the name and the text of its tables."""
    for path in sorted(folder.glob("*/provenance.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        files = sorted(path.parent.glob("*.txt"))
        texts = [(each.stem, each.read_text(encoding="utf-8")) for each in files]
        yield path.parent.name, made, texts


def _heading(name: str, made: dict[str, Any]) -> str:
    return f"## {name}\n\n{_commands(made)}\n{_facts(made)}.\n"


def _with_command(made: dict[str, Any], parts: Iterable[str]) -> str:
    """Return tables below the commands that made them."""
    return "\n".join([f"{_commands(made)}\n({_place(made)}):\n", *parts])


def _block(text: str) -> str:
    """Return a text as it is printed; a table of Markdown is one already."""
    return text if text.startswith("| ") else f"```text\n{text.rstrip()}\n```\n"


def command_lines(made: dict[str, Any]) -> list[str]:
    """Return the command lines that made a measurement; docs/measure writes them down."""
    return list(made.get("lines") or [f"islands {shlex.join(made['command'])}"])


def _commands(made: dict[str, Any]) -> str:
    """Return the command that made a measurement; several are in its table."""
    lines = command_lines(made)
    return f"`{lines[0]}`" if len(lines) == 1 else "These commands"


def _place(made: dict[str, Any]) -> str:
    """Return the date, the commit, and the devices of the ranks."""
    commit = made["commit"] or "unknown"
    changes = ", with changes" if made["changed"] else ""
    ranks = f" on each of {made['ranks']} ranks" if made.get("ranks", 1) > 1 else ""
    devices = ", ".join(made["devices"])
    return f"{made['date'][:10]}, commit `{commit[:12]}`{changes}; {devices}{ranks}"


def _facts(made: dict[str, Any]) -> str:
    """Return the date, the commit, the devices, the versions and the time of the commands."""
    versions = [f"{name} {version}" for name, version in made["versions"].items()]
    facts = [
        _place(made),
        *([f"driver {made['driver']}"] if made.get("driver") else []),
        ", ".join([f"islands {made['islands']}", *versions]),
    ]
    if "seconds" in made:
        facts.append(_took(made))
    return "; ".join(facts)


def _took(made: dict[str, Any]) -> str:
    """Return the time of the commands."""
    processor = made.get("processor_seconds")
    more = f", and {processor:.0f} s of processor time" if processor is not None else ""
    return f"took {made['seconds']:.0f} s{more}"
