"""Which settings choose a part, and which parts of a run a script has brought."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from islands import algorithms, encodings, improvers
from islands.algorithms import operators
from islands.backends.header import Header
from islands.custom.kinds import Kind, Own
from islands.errors import UsageError
from islands.migration import topology
from islands.problems.base import Problem

CHOICES: dict[str, Kind] = {
    "algorithm": algorithms.KIND,
    "encoding": encodings.KIND,
    "improver.name": improvers.KIND,
    "crossover": operators.CROSSOVER,
    "mutation": operators.MUTATION,
    "migration.topology": topology.KIND,
}
"""The kinds of parts, by the full names of the settings that choose them."""


def chosen(settings: Mapping[str, Any]) -> dict[str, Own]:
    """Return the parts of scripts among a run's settings, by the names of these."""
    found = {}
    for key, kind in CHOICES.items():
        group, _, name = key.rpartition(".")
        value = (settings.get(group, {}) if group else settings).get(name)
        if isinstance(value, str) and value in kind.own:
            found[key] = kind.own[value]
    return found


def lasting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which parts of scripts are called as they are found again."""
    found = dict(settings)
    for key, own in chosen(settings).items():
        group, _, name = key.rpartition(".")
        if own.reference is not None and group:
            found[group] = {**found[group], name: own.reference}
        elif own.reference is not None:
            found[name] = own.reference
    return found


@dataclass(frozen=True)
class Trait:
    """What tells a part of a script from what it may become: the text of its header, or its say."""

    part: str
    """Such as `crossover spread`."""
    file: str
    """The name of the header; empty where the text is none."""
    text: str

    @property
    def sha256(self) -> str:
        """Return the digest of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def traits(settings: Mapping[str, Any], problem: Problem) -> list[Trait]:
    """Return those of a run's parts that scripts have brought; refuse topologies that are not pure.

    Two parts may share a header, but not its name alone.
    """
    found = [_of_header(f"problem {problem.name}", getattr(problem, "header", None))]
    for key, own in chosen(settings).items():
        part = f"{CHOICES[key].what} {own.part.name}"
        found.append(_of_header(part, getattr(own.part, "header", None)))
        if isinstance(own.part, topology.Topology) and settings["islands"] > 1:
            said = own.part.first_senders(settings["islands"], settings["seed"])
            found.append(Trait(part, "", said))
    owners: dict[str, Trait] = {}
    for each in filter(None, found):
        first = owners.setdefault(each.file, each)
        if each.file and first.text != each.text:
            raise UsageError(
                f"{first.part} and {each.part} both bring a header {each.file!r}, with different"
                " texts. Give one of them another name"
            )
    return [each for each in found if each is not None]


def _of_header(part: str, header: Header | None) -> Trait | None:
    if header is None or header.text is None:
        return None
    return Trait(part, header.name, header.text)
