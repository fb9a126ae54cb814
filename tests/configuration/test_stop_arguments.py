from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import islands
from islands.configuration.stop import stop_texts


@pytest.mark.parametrize(
    ("stop", "keywords", "texts"),
    [
        (None, {}, None),
        (None, {"generations": None}, None),
        ("best-known", {}, ["best-known"]),
        (("optimum", "seconds=5"), {}, ["optimum", "seconds=5"]),
        (None, {"seconds": 2.5}, ["seconds=2.5"]),
        (None, {"seconds": "5m"}, ["seconds=5m"]),
        (None, {"generations": 5}, ["generations=5"]),
        (None, {"generations": np.int32(5)}, ["generations=5"]),
        (None, {"evaluations": 1e9}, ["evaluations=1000000000"]),
        (None, {"target": -3}, ["target=-3"]),
        (None, {"gap": "0.5%"}, ["gap=0.5%"]),
        (None, {"gap": np.float64(0)}, ["gap=0"]),
        ("optimum", {"stagnation": 9, "seconds": 1}, ["optimum", "stagnation=9", "seconds=1"]),
        ("generations=5", {"generations": 5}, ["generations=5"]),
        (["seconds=1m"], {"seconds": 60}, ["seconds=1m"]),
    ],
)
def test_text_lists_and_keywords_are_combined(
    stop: Any, keywords: dict[str, Any], texts: list[str] | None
) -> None:
    assert stop_texts(stop, keywords) == texts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stop": 5}, 'stop=5: names no criterion. Write generations=5 or stop="generations=5"'),
        ({"stop": 5.0}, 'Write generations=5 or stop="generations=5"'),
        ({"stop": ["optimum", 5]}, 'Write generations=5 or stop="generations=5"'),
        ({"stop": {"seconds": 3}}, 'Write generations=100 or stop="generations=100"'),
        ({"stop": "x=1"}, 'stop="x=1": unknown criterion'),
        ({"generations": 0}, "generations=0: must be at least 1"),
        ({"generations": 2.5}, "generations=2.5: must be a whole number"),
        ({"generations": True}, "generations=True: must be a number. Write generations=100"),
        ({"seconds": [1]}, "seconds=[1]: must be a number"),
        ({"seconds": "soon"}, "seconds=soon: must be a number of seconds"),
        ({"target": float("nan")}, "target=nan: must be a finite number"),
        ({"gap": -1}, "gap=-1: must be at least 0%"),
        (
            {"stop": "generations=5", "generations": 6},
            'generations is given twice: stop="generations=5" and generations=6. Leave one of',
        ),
    ],
)
def test_wrong_criteria_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(islands.IslandsError, match=re.escape(message)):
        islands.solve("demo/tsp", **arguments)


def test_the_first_satisfied_criterion_ends_the_run() -> None:
    few = {"population": 16, "islands": 2, "backend": "cpu", "improver": "none"}
    result = islands.solve("demo/tsp", stop="best-known", generations=4, seconds=60, **few)
    assert (result.generations, result.reason) == (4, "4 generations done")
    assert result.settings["stop"] == ["best-known", "seconds=60", "generations=4"]
    reached = islands.solve("demo/tsp", target=10**9, generations=7, **few)
    assert reached.generations == 0
    assert reached.reason.endswith("reached the target 1000000000")
