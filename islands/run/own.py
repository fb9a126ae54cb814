"""Which settings choose a part, and which parts of a run a script has brought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from islands import algorithms, encodings, improvers
from islands.algorithms import operators
from islands.kinds import Kind, Own
from islands.migration import topology

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
