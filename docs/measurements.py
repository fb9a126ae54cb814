"""Tables of measurements in docs/measured, for docs/generate.

A file is the output of `islands bench --json`, a folder that of `islands reproduce --out`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("measured")
NOTHING = "There are no measurements yet.\n"
_MEANS = "quality_means"
_MOST_SENTENCES = 12
"""Sentences of a table that the page of figures shows; the page of measurements has all."""


def measured(folder: Path = FOLDER) -> str:
    """Return all measurements in a folder, each with the command that made it."""
    parts = []
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        heading = f"## `{_command(found['provenance'])}`\n\n{_facts(found['provenance'])}.\n\n"
        parts.append(heading + "\n".join(map(_block, found["printed"].values())))
    for made, texts in _experiments(folder):
        heading = f"## `{_command(made)}`\n\n{_facts(made)}.\n\n"
        parts.append(heading + "\n".join(_block(text) for _, text in texts))
    return "\n".join(parts) or NOTHING


def figures(prefix: str, folder: Path = FOLDER) -> str:
    """Return the means of the files with a prefix; of a file without means, all its tables."""
    parts = []
    for path in sorted(folder.glob(f"{prefix}*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        printed = found["printed"]
        shown = [printed[_MEANS]] if _MEANS in printed else printed.values()
        parts.append(_with_command(found["provenance"], map(_block, shown)))
    return "\n".join(parts) or NOTHING


def papers(folder: Path = FOLDER) -> str:
    """Return what follows the rows of each table of the experiments in a folder."""
    return (
        "\n".join(_with_command(made, _sentences(texts)) for made, texts in _experiments(folder))
        or NOTHING
    )


def _sentences(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in texts:
        title = text.partition("\n")[0].partition("   ")[0]
        sentences = text.rstrip().rpartition("\n\n")[2].splitlines()
        left = len(sentences) - _MOST_SENTENCES
        more = [f"and {left} lines more in [measured results](measured.md)"] if left > 0 else []
        lines = [*sentences[:_MOST_SENTENCES], *more]
        yield "\n".join([f"`{name}`, {title}:\n", *(f"- {each}" for each in lines), ""])


def _experiments(folder: Path) -> Iterator[tuple[dict[str, Any], list[tuple[str, str]]]]:
    """Yield what made each experiment, and the name and the text of its tables."""
    for path in sorted(folder.glob("*/provenance.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        files = sorted(path.parent.glob("*.txt"))
        yield made, [(each.stem, each.read_text(encoding="utf-8")) for each in files]


def _with_command(made: dict[str, Any], parts: Iterable[str]) -> str:
    """Return tables below the command that made them."""
    return "\n".join([f"`{_command(made)}`\n({_place(made)}):\n", *parts])


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def _command(made: dict[str, Any]) -> str:
    return f"islands {shlex.join(made['command'])}"


def _place(made: dict[str, Any]) -> str:
    """Return the date, the commit, and the devices of the ranks."""
    commit = made["commit"] or "unknown"
    changes = ", with changes" if made["changed"] else ""
    ranks = f" on each of {made['ranks']} ranks" if made.get("ranks", 1) > 1 else ""
    devices = ", ".join(made["devices"])
    return f"{made['date'][:10]}, commit `{commit[:12]}`{changes}; {devices}{ranks}"


def _facts(made: dict[str, Any]) -> str:
    """Return the date, the commit, the devices and the versions."""
    versions = [f"{name} {version}" for name, version in made["versions"].items()]
    facts = [
        _place(made),
        *([f"driver {made['driver']}"] if made.get("driver") else []),
        ", ".join([f"islands {made['islands']}", *versions]),
    ]
    return "; ".join(facts)
