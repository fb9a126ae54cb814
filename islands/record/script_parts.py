"""Parts of scripts: stored in the run's folder, and compared when the run is resumed."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from islands.configuration.own import Trait
from islands.errors import InputError
from islands.inside import inside
from islands.paths import published
from islands.record.folder import INDEX, PARTS, file_name_of
from islands.untrusted import bounded_text, parsing


def store_parts(folder: Path, traits: Sequence[Trait]) -> None:
    """Write all headers, for users to read, and an index of all parts with their checksums."""
    if not traits:
        return
    index = [{"part": t.part, "file": file_name_of(t.file), "sha256": t.sha256} for t in traits]
    # Write the index first: it lists which files belong to the run.
    texts = {INDEX: json.dumps(index, indent=1), **{file_name_of(t.file): t.text for t in traits}}
    for name, text in texts.items():
        if name:
            with published(inside(folder, PARTS, name)) as temporary:
                temporary.write_text(text, encoding="utf-8")


def _listed(parts: Collection[str]) -> str:
    return ", ".join(sorted(parts)) or "no such part"


def require_same_parts(folder: Path, traits: Sequence[Trait]) -> None:
    """Refuse a script that has changed since its parts were stored."""
    index = inside(folder, PARTS, INDEX)
    if not index.exists():  # the run was killed earlier, or has no parts of scripts
        return
    with parsing(index):
        kept = {
            (each["part"], each["file"]): each["sha256"] for each in json.loads(bounded_text(index))
        }
    now = {(each.part, file_name_of(each.file)): each.sha256 for each in traits}
    began, brought = ({part for part, _ in each} for each in (kept, now))
    if began != brought:
        raise InputError(
            f"{folder}: the run began with {_listed(began - brought)}, but now has"
            f" {_listed(brought - began)}. Use the original parts, or begin a new run"
        )
    for part, file in dict.fromkeys([*kept, *now]):
        if kept.get((part, file)) != now.get((part, file)):
            what = f"the header of the {part}" if file else f"the definition of the {part}"
            then = f"; the original is {folder / PARTS / file}" if file else ""
            raise InputError(
                f"{folder}: {what} has changed since the run began{then}. Restore the script, or"
                " begin a new run"
            )
