from __future__ import annotations

from pathlib import Path

from fakes import FakeProblem

from islands.configuration.resolve import layers, resolve
from islands.display.messages import opening, place
from islands.instances.catalogue import BestKnown
from islands.instances.solution_files import Remark
from islands.progress.usage import Machine

MACHINE = Machine(2, "cpu", "2 x CPU, 1 thread", "no GPU found", "staged", 1.94)


def test_the_header_describes_the_run_the_machine_and_the_criteria() -> None:
    problem = FakeProblem(BestKnown(200, "optimal", "a list"))
    problem.remarks = [Remark("stated", 190, "the file says best known 190")]
    spec = resolve(layers({"preset": "xavier2019", "seed": 7}), problem)
    assert opening("0.1.0", spec, problem, 2).split("\n") == [
        "islands 0.1.0   tsp fake/five, size 5, optimum 200",
        "the file says best known 190",
        "brkga on keys   3 islands x 256   seed 7   preset xavier2019",
        "3 islands on 2 ranks, 1 or 2 each",
        "stops at: 1000 generations",
    ]
    assert place(spec, MACHINE, Path("runs/a")).split("\n") == [
        "migration elite of 2 every 200 generations (transport: staged)",
        "2 x CPU, 1 thread   backend cpu: no GPU found",
        "kernels compiled in 1.9 s and stored in the cache",
        "run folder runs/a",
    ]


def test_a_line_break_in_the_instance_name_is_escaped() -> None:
    problem = FakeProblem()
    problem.instance = "a\nstops at: 5 seconds"
    spec = resolve(layers({"stop": "generations=5"}), problem)
    first, second, *_ = opening("0.1.0", spec, problem, 2).split("\n")
    assert first == "islands 0.1.0   tsp a\\nstops at: 5 seconds, size 5"
    assert second.startswith("brkga on keys")


def test_the_header_of_a_single_island() -> None:
    spec = resolve(layers({"islands": 1, "stop": ["target=5", "seconds=2m"]}), FakeProblem())
    text = opening("0.1.0", spec, FakeProblem(), 2) + place(spec, MACHINE, None)
    assert "1 island x 256" in text
    assert "no migration" in text
    assert "stops at: cost 5, or 120 s" in text
    assert "run folder" not in text
