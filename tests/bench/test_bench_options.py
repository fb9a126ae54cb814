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
        (
            ["colonies", "--of", "gk"],
            "--of: an option of quality and gpus, but colonies was asked for.",
        ),
        (["colonies", "--variant", "islands=1"], "asked for. Use --colony"),
        (["quality", "--mixes", "demo/qap"], "but quality was asked for. Use --of"),
        (["migration", "--of", "gk"], "asked for. Use --instances"),
        (
            ["brkga", "tabu", "--seeds", "5"],
            "--seeds: an option of quality, colonies and gpus",
        ),
        (["brkga", "tabu", "--rivals", "highs"], "brkga and tabu were asked for. Leave it out"),
        (["--variant", "default"], "--variant: name a benchmark, too. Known: brkga, de, "),
        (["--json"], "--json: name a benchmark, too. Known: brkga, de, "),
    ],
)
def test_options_of_other_benchmarks_are_refused(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *line]) == 2
    assert message in capsys.readouterr().err


def test_without_a_name_benchmarks_are_only_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(BENCHES)]] == [*BENCHES]
    assert all(len(line.split()) > 3 for line in lines[: len(BENCHES)])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("quality --of nosuch", "unknown instance 'nosuch'"),
        ("tabu quality --of nosuch", "unknown instance 'nosuch'"),
        ("quality --of demo/tsp --variant islands=0", "--variant 'islands=0': islands=0: must be"),
        (
            "quality --of demo/tsp --variant nosuch=1",
            "--variant 'nosuch=1': unknown setting of eax",
        ),
        (
            "quality --of demo/tsp --rivals highs",
            "--rivals highs: highs solves knapsacks",
        ),
        ("colonies --mixes nosuch", "unknown instance 'nosuch'"),
        ("migration --instances nosuch", "unknown instance 'nosuch'"),
        (
            "quality migration --of demo/tsp --topology rign",
            "migration.topology=rign: unknown choice",
        ),
    ],
)
def test_wrong_options_are_refused_before_any_explanation(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "highs" in line:
        pytest.importorskip("scipy")
    assert main(["bench", *line.split(), "--backend", "cpu"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert (captured.err.count("\n"), captured.out) == (1, "")


def test_each_option_is_a_field_and_names_benchmarks() -> None:
    known = {each.name for each in fields(BenchRequest)}
    named = [option.field for options in OPTIONS.values() for option in options]
    assert len(set(named)) == len(named)
    assert set(named) <= known
    assert {name for names in OPTIONS for name in names} <= set(BENCHES)


@pytest.mark.parametrize("name", ["decoders", "topologies", "colonies", "quality", "tabu", "gpus"])
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
