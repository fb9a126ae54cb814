"""What a script has brought to a run: kept in its folder, and compared when the run goes on."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from islands.errors import InputError
from islands.paths import published
from islands.record.folder import INDEX, PARTS, kept_as
from islands.spec.own import Trait
from islands.untrusted import bounded_text, parsing


def keep(folder: Path, traits: Sequence[Trait]) -> None:
    """Write the texts of all headers, for people to read, and what tells all parts from others."""
    if not traits:
        return
    index = [{"part": t.part, "file": kept_as(t.file), "sha256": t.sha256} for t in traits]
    # The index comes first: it says which files are the run's.
    texts = {INDEX: json.dumps(index, indent=1), **{kept_as(t.file): t.text for t in traits}}
    for name, text in texts.items():
        if name:
            with published(folder / PARTS / name) as temporary:
                temporary.write_text(text, encoding="utf-8")


def _listed(parts: Collection[str]) -> str:
    return ", ".join(sorted(parts)) or "no such part"


def require_same(folder: Path, traits: Sequence[Trait]) -> None:
    """Refuse a script that has changed since it was kept."""
    index = folder / PARTS / INDEX
    if not index.exists():  # killed before it was written, or of no script
        return
    with parsing(index):
        kept = {
            (each["part"], each["file"]): each["sha256"] for each in json.loads(bounded_text(index))
        }
    now = {(each.part, kept_as(each.file)): each.sha256 for each in traits}
    began, brought = ({part for part, _ in each} for each in (kept, now))
    if began != brought:
        raise InputError(
            f"{folder}: the run began with {_listed(began - brought)}, but is given"
            f" {_listed(brought - began)}. Give it what it began with, or begin a new run"
        )
    for part, file in dict.fromkeys([*kept, *now]):
        if kept.get((part, file)) != now.get((part, file)):
            what = f"the header of the {part}" if file else f"what the {part} says"
            then = f"; as it was, it is in {folder / PARTS / file}" if file else ""
            raise InputError(
                f"{folder}: {what} has changed since the run began{then}. Restore the script, or"
                " begin a new run"
            )
