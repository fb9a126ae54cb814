from __future__ import annotations

import json

from results_for_tests import result


def test_json_contains_the_documented_keys() -> None:
    found = json.loads(result().to_json())
    assert set(found) >= {
        *("instance", "problem", "algorithm", "encoding", "preset", "cost", "best_known", "gap"),
        *("solution", "generations", "evaluations", "seconds", "compile_seconds", "reason"),
        *("seed", "ranks", "islands", "backend", "device", "transport", "digest", "folder"),
    }
    assert found["solution"] == [2, 0, 1]
    assert found["cost"] == 210
    assert found["preset"] is None
    assert "\n" not in result().to_json()


def test_the_summary_contains_reason_result_and_folder() -> None:
    assert result().summary().split("\n") == [
        "Stopped: done   (generation 100, 1.2 s)",
        "Best 210, gap 5.00% to 200   on island 3, generation 90; checked again by NumPy: 210",
        "Wrote runs/a: run.toml, trace, solution, checkpoints, log.txt",
    ]


def test_the_summary_of_a_suspended_run_names_no_solution() -> None:
    assert result(suspended=True).summary().endswith("trace, checkpoints, log.txt")


def test_the_summary_without_a_known_value_and_without_files() -> None:
    lines = result(best_known=None, gap=None, folder=None).summary().split("\n")
    assert len(lines) == 2
    assert lines[1].startswith("Best 210   on island 3")
