"""The words that a shell offers for the arguments of a command, and for the values of options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from islands.algorithms import ALGORITHMS
from islands.algorithms.operators import CROSSOVERS, MUTATIONS
from islands.bench import BENCHES
from islands.cli.export import RECORDS
from islands.cli.instances import ACTIONS
from islands.encodings import ENCODINGS
from islands.improvers import IMPROVERS
from islands.instances.catalogue import catalogue
from islands.instances.formats import FORMATS
from islands.migration import TOPOLOGIES
from islands.presets import PRESETS
from islands.report.pictures import PICTURES
from islands.reproduce import PAPERS
from islands.tune import METRICS

VALUES: Mapping[str, Sequence[str]] = {
    "--algorithm": [*ALGORITHMS],
    "--backend": ["auto", "cpu", "cuda"],
    "--crossover": [*CROSSOVERS],
    "--encoding": [*ENCODINGS],
    "--format": [*FORMATS],
    "--improver": [*IMPROVERS],
    "--metric": METRICS,
    "--migration": [*TOPOLOGIES],
    "--mutation": [*MUTATIONS],
    "--preset": [*PRESETS],
    "--topology": [*TOPOLOGIES],
}
"""The values of options; an option takes the same values in all commands."""
OF_INSTANCES = ("--of", "--only")
"""Options whose values are names of instances."""


def instance_names() -> list[str]:
    """Return the names of all instances of the catalogue."""
    return catalogue().names()


def argument_words() -> dict[str, list[str]]:
    """Return the words for the arguments of each command that takes other arguments than files."""
    instances = instance_names()
    return {
        **dict.fromkeys(("run", "check", "submit", "tune", "verify"), instances),
        "instances": [*ACTIONS, *catalogue().sets, *instances],
        "bench": [*BENCHES],
        "export": [*RECORDS],
        "plot": [*PICTURES],
        "reproduce": ["all", *PAPERS, *_tables()],
    }


def _tables() -> Iterator[str]:
    for name, home in PAPERS.items():
        paper = import_module(home).PAPER
        for table in (*paper.tables, *paper.printed):
            yield f"{name}/{table}"
