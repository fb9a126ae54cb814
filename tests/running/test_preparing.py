"""Instances that are prepared together have the settings that each has alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_launches import options

import islands
from islands.backends import choose
from islands.problems.base import Problem
from islands.run.preparing import Preparing, Wanted
from islands.run.request import layers, resolved

SETTINGS = {"islands": 2, "population": 8, "algorithm": "ga", "stop": "generations=3", "seed": 5}
DATA = np.random.default_rng(71).integers(0, 99, (6, 9, 2))


def written(folder: Path, name: str, cities: Any) -> Path:
    lines = [f"{k + 1} {x} {y}" for k, (x, y) in enumerate(cities.tolist())]
    head = ["NAME: x", "TYPE: TSP", f"DIMENSION: {len(lines)}", "EDGE_WEIGHT_TYPE: EUC_2D"]
    path = folder / name
    path.write_text("\n".join([*head, "NODE_COORD_SECTION", *lines, "EOF", ""]))
    return path


def test_each_has_the_settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    backend = choose("cpu", 1)
    wanted: list[tuple[str, Problem | None, int | None]] = []
    for number, cities in enumerate(DATA):
        if number % 2:
            wanted.append((written(tmp_path, f"{number}.tsp", cities).name, None, 10 + number))
        else:
            problem = islands.tsp(cities, metric="EUC_2D")
            wanted.append((problem.instance, problem, None if number == 2 else 10 + number))
    for order in (wanted, wanted[::-1]):

        def own(each: Wanted) -> dict[str, Any]:
            seed = {} if each.seed is None else {"seed": each.seed}
            return options({**SETTINGS, "instance": each.name, **seed}, backend)

        preparing = Preparing(backend, own)
        for name, problem, seed in order:
            asked = Wanted(name, problem, seed)
            mine = preparing.waiting(name, asked)
            assert mine is not None
            spec, _ = resolved(layers(own(asked)), problem)
            assert (mine.spec, mine.spec.stored) == (spec, spec.stored)
            is_path = problem is None
            assert mine.spec.instance == (str(tmp_path / name) if is_path else name)
            assert mine.spec.general.seed == (5 if seed is None else seed)
