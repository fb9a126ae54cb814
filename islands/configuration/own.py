"""The settings that choose a part, and the parts of a run that come from scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from islands import algorithms, encodings, improvers
from islands.algorithms import operators
from islands.backends.source import Header
from islands.custom.parts import OwnPart, PartKind
from islands.errors import UsageError
from islands.migration import topology
from islands.problems.base import Problem

CHOICES: dict[str, PartKind] = {
    "algorithm": algorithms.KIND,
    "encoding": encodings.KIND,
    "improver.name": improvers.KIND,
    "crossover": operators.CROSSOVER,
    "mutation": operators.MUTATION,
    "migration.topology": topology.KIND,
}
"""The kinds of parts, by the full name of the setting that chooses one."""


def chosen(settings: Mapping[str, Any]) -> dict[str, OwnPart]:
    """Return the parts from scripts in a run's settings, by the name of the setting."""
    found = {}
    for key, kind in CHOICES.items():
        group, _, name = key.rpartition(".")
        value = (settings.get(group, {}) if group else settings).get(name)
        if isinstance(value, str) and value in kind.own:
            found[key] = kind.own[value]
    return found


def lasting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with parts from scripts named `FILE.py:NAME`, to find them again."""
    found = dict(settings)
    if "colony" in found:
        found["colony"] = [lasting(each) for each in found["colony"]]
    for key, own in chosen(settings).items():
        group, _, name = key.rpartition(".")
        if own.reference is not None and group:
            found[group] = {**found[group], name: own.reference}
        elif own.reference is not None:
            found[name] = own.reference
    return found


@dataclass(frozen=True)
class Trait:
    """The text that identifies a version of a part from a script."""

    part: str
    """Kind and name of the part, such as `crossover spread`."""
    file: str
    """The name of the header; empty if the text is not a header."""
    text: str
    """The text of the header, or of a topology's connections."""

    @property
    def sha256(self) -> str:
        """The SHA-256 digest of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def traits(settings: Mapping[str, Any], problem: Problem) -> list[Trait]:
    """Return the traits of a run's parts from scripts; refuse a topology that is not pure.

    Two parts may share a header, but two different headers need different names.
    """
    found = [_of_header(f"problem {problem.name}", getattr(problem, "header", None))]
    each_chosen = [chosen(each) for each in (settings, *settings.get("colony", ()))]
    for key, own in (pair for each in each_chosen for pair in each.items()):
        part = f"{CHOICES[key].what} {own.part.name}"
        found.append(_of_header(part, getattr(own.part, "header", None)))
        if isinstance(own.part, topology.Topology) and settings["islands"] > 1:
            connections = own.part.first_senders(settings["islands"], settings["seed"])
            found.append(Trait(part, "", connections))
    owners: dict[str, Trait] = {}
    known = list(dict.fromkeys(filter(None, found)))  # colonies may share parts
    for each in known:
        first = owners.setdefault(each.file, each)
        if each.file and first.text != each.text:
            raise UsageError(
                f"{first.part} and {each.part} have different headers with the name {each.file!r}."
                " Rename one of them"
            )
    return known


def _of_header(part: str, header: Header | None) -> Trait | None:
    if header is None or header.text is None:
        return None
    return Trait(part, header.name, header.text)
