"""`islands bench` refuses options that none of its benchmarks uses."""

from __future__ import annotations

import ast
from dataclasses import fields
from inspect import getsource
from pkgutil import resolve_name

import pytest

from islands.bench import BENCHES
from islands.bench.base import BenchRequest
from islands.cli import main, parser
from islands.cli.bench_options import OPTIONS


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["colonies", "--of", "gk"], "--of: an option of quality, but colonies was asked for."),
        (["colonies", "--variant", "islands=1"], "asked for. Use --colony"),
        (["quality", "--mixes", "demo/qap"], "but quality was asked for. Use --of"),
        (["migration", "--of", "gk"], "asked for. Use --instances"),
        (["brkga", "tabu", "--seeds", "5"], "--seeds: an option of quality and colonies, but"),
        (["brkga", "tabu", "--rivals", "highs"], "brkga and tabu were asked for. Leave it out"),
        (["--variant", "default"], "--variant: an option of quality, but brkga, de,"),
    ],
)
def test_options_of_other_benchmarks_are_refused(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *line]) == 2
    assert message in capsys.readouterr().err


def test_each_option_is_a_field_and_names_benchmarks() -> None:
    known = {each.name for each in fields(BenchRequest)}
    named = [option.field for options in OPTIONS.values() for option in options]
    assert len(set(named)) == len(named)
    assert set(named) <= known
    assert {name for names in OPTIONS for name in names} <= set(BENCHES)


@pytest.mark.parametrize("name", ["decoders", "topologies", "colonies", "quality", "tabu"])
def test_a_benchmark_has_the_options_that_its_module_reads(name: str) -> None:
    tree = ast.parse(getsource(resolve_name(BENCHES[name])))
    read = {
        each.attr
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == "request"
    }
    mine = {
        option.field for names, options in OPTIONS.items() if name in names for option in options
    }
    every = {option.field for options in OPTIONS.values() for option in options}
    assert read & every <= mine


def test_a_program_that_is_named_twice_runs_once() -> None:
    line = ["bench", "quality", "--rivals", "highs,lkh,highs", "--of", "gk,gk"]
    asked = parser("bench").parse_args(line)
    assert (asked.rivals, asked.of) == (("highs", "lkh"), ("gk",))
