"""A generation that takes too long is given up, and the run stands where it was before."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fakes import Quiet, Silent
from numpy.typing import NDArray
from problems_for_tests import cities, facilities, knapsack

import islands
from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import Suspended
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.mkp_settings import MkpSettings
from islands.reproduce.experiment import Experiment
from islands.run.alarm import Alarm
from islands.run.asynchronous import evolve_freely
from islands.run.batch import run_batch
from islands.run.build import islands_of
from islands.run.signals import suspending
from islands.run.start import combined
from islands.spec.resolve import layers, resolve

SLOW = [
    *("--algorithm", "brkga", "--improver", "tabu", "--set", "improver.steps=50000"),
    *("--islands", "2", "--population", "48", "--backend", "cpu", "--threads", "1"),
]
"""On an instance of 80 cities, a generation takes many seconds."""
EVERY_OTHER = [*SLOW, "--set", "improver.every=2"]


def problem_of(name: str, folder: Path) -> Problem:
    if name == "tsp":
        return cities(23, folder)
    if name == "qap":
        return facilities(12)
    return knapsack(40, 3).adjusted(MkpSettings(infeasible=name))


# A problem, or what is done with infeasible choices; algorithm, encoding, its settings, improver.
RUNS: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [
    ("tsp", "brkga", "keys", {"elite": 0.2, "reset": 2}, {"name": "two_opt"}),
    ("qap", "de", "keys", {"adaptation": "jde"}, {"name": "tabu", "steps": 30}),
    ("qap", "cellular", "permutation", {"halo": True}, {"name": "swap", "strategy": "best"}),
    ("linear", "pso", "bits", {"reset": 3}, {"name": "exchange"}),
    ("repair", "ga", "bits", {}, {"name": "tabu"}),
    ("drop", "pso", "keys", {}, {"name": "exchange22", "strategy": "best"}),
    ("tsp", "ga", "permutation", {"replacement": "generational"}, {"name": "none"}),
]


def made(backend: Backend, problem: Problem, run: tuple[Any, ...]) -> Archipelago:
    _, algorithm, encoding, settings, improver = run
    kind, world = ALGORITHMS[algorithm], World()
    islands = Archipelago(
        problem=problem,
        algorithm=algorithm,
        encoding=encoding,
        settings=kind.completed(kind.Settings.build(settings), encoding),
        population=16,
        islands=3,
        seed=3,
        migration=MigrationSettings.build(
            {"topology": "none" if settings.get("halo") else "ring", "delay": 1}
            if not settings.get("halo")
            else {"topology": "none"}
        ),
        backend=backend,
        world=world,
        transport=find(world, backend)[0],
        improver=ImproverSettings.build(improver),
    )
    islands.start()
    return islands


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
@pytest.mark.parametrize("generations", [1, 3])
def test_what_is_withdrawn_leaves_no_trace(
    backend: Backend, run: tuple[Any, ...], generations: int, tmp_path: Path
) -> None:
    problem = problem_of(run[0], tmp_path)
    disturbed, straight = (made(backend, problem, run) for _ in range(2))
    for islands_ in (disturbed, straight):
        islands_.advance(5)
        islands_.migrate()
    before = disturbed.snapshot()
    assert disturbed.attempt(generations)
    assert disturbed.digests() != straight.digests()
    disturbed.withdraw()
    for name, array in disturbed.snapshot().items():
        assert np.array_equal(before[name], array), name
    for islands_ in (disturbed, straight):
        islands_.advance(4)
        islands_.migrate()
        islands_.advance(3)
    assert disturbed.generation == straight.generation
    assert disturbed.digests() == straight.digests()
    assert disturbed.measure() == straight.measure()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
def test_islands_that_are_told_to_give_up_do(
    backend: Backend, run: tuple[Any, ...], tmp_path: Path
) -> None:
    islands_ = made(backend, problem_of(run[0], tmp_path), run)
    before, calls = islands_.digests(), islands_.measure()
    islands_.give_up()
    gave_up = not islands_.attempt(2)
    # On a GPU, searches that are soon through do not look.
    assert gave_up or backend.name == "cuda"
    if gave_up:
        islands_.withdraw()
        assert (islands_.digests(), islands_.measure()) == (before, calls)


def test_a_run_ends_in_time_at_a_whole_generation(tmp_path: Path) -> None:
    few: dict[str, Any] = {"islands": 2, "population": 48, "seed": 5, "backend": "cpu"}
    few |= {"algorithm": "brkga", "improver": {"name": "tabu", "steps": 50_000}, "threads": 1}
    problem = cities(80, tmp_path)
    whole = islands.Solver(problem, **few)._archipelago  # compiles
    began = time.perf_counter()
    result = islands.solve(problem, stop="seconds=1", **few)
    assert 1 <= time.perf_counter() - began < 9
    assert result.generations == 0
    assert "s is at least 1 s" in result.reason
    assert result.digest == combined(whole.digests())


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_signal_in_a_long_generation_loses_that_one_alone(
    ranks: int, tmp_path: Path, mpirun: list[str]
) -> None:
    cities(80, tmp_path).path.rename(tmp_path / "many.tsp")  # type: ignore[union-attr]
    launch = [*mpirun, str(ranks)] if ranks > 1 else []
    line = [*launch, sys.executable, "-m", "islands"]
    started = [*line, "run", str(tmp_path / "many.tsp"), *EVERY_OTHER]
    started += ["--out", str(tmp_path / "a")]
    with subprocess.Popen(
        [*started, "--stop", "generations=2"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for shown in process.stdout:
            if shown.lstrip("*C ").startswith("0 "):
                break
        time.sleep(1)
        began = time.perf_counter()
        process.send_signal(signal.SIGUSR1)
        status = process.wait(60)
    assert status == 75
    assert time.perf_counter() - began < 9
    resumed = done("resume", str(tmp_path / "a"))
    whole = done("run", str(tmp_path / "many.tsp"), *EVERY_OTHER, "--out", str(tmp_path / "b"))
    assert resumed["generations"] == whole["generations"] == 1
    assert resumed["digest"] == whole["digest"]


def test_a_signal_to_one_rank_is_heard_by_all(tmp_path: Path, mpirun: list[str]) -> None:
    cities(80, tmp_path).path.rename(tmp_path / "many.tsp")  # type: ignore[union-attr]
    line = [*mpirun, "2", sys.executable, "-m", "islands", "run", str(tmp_path / "many.tsp"), *SLOW]
    with subprocess.Popen(
        [*line, "--stop", "generations=2", "--out", tmp_path / "a"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for shown in process.stdout:
            if shown.lstrip("*C ").startswith("0 "):
                break
        time.sleep(1)
        (told,) = re.findall(
            r"^rank 1 .* pid (\d+)", (tmp_path / "a" / "log.txt").read_text(), re.M
        )
        began = time.perf_counter()
        os.kill(int(told), signal.SIGTERM)
        status = process.wait(60)
    assert status == 75
    assert time.perf_counter() - began < 9


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGUSR1, 75)]
)
@pytest.mark.parametrize("side_by_side", [True, False])
def test_a_signal_ends_a_tuning_in_a_long_generation(
    number: signal.Signals, status: int, side_by_side: bool, tmp_path: Path
) -> None:
    path = cities(80, tmp_path).path
    stop = "generations=2" if side_by_side else "seconds=100"
    line = [sys.executable, "-m", "islands", "tune", str(path), *SLOW, "--stop", stop]
    line += ["--over", "rho=0.6,0.7", "--runs", "2", "--out", str(tmp_path / "a")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"tune: ")
        time.sleep(5)  # it is compiled, and would go on for minutes
        began = time.perf_counter()
        process.send_signal(number)
        assert process.wait(60) == status
    assert time.perf_counter() - began < 9


def test_islands_at_work_are_seen_and_can_be_told_to_leave(
    backend: Backend, tmp_path: Path
) -> None:
    problem = cities(1500, tmp_path)  # for many seconds, on a GPU too
    slow = {"name": "tabu", "steps": 50_000, "rate": 0.1}
    islands_ = made(backend, problem, ("tsp", "brkga", "keys", {}, slow))
    assert not islands_.ahead
    ends = list[bool]()
    attempt = threading.Thread(target=lambda: ends.append(islands_.attempt(1)))
    attempt.start()
    time.sleep(1)
    assert islands_.ahead == range(1, 2)
    assert 0 < islands_.made() < 48  # those without a search are soon made
    islands_.give_up()
    began = time.perf_counter()
    attempt.join(60)
    assert time.perf_counter() - began < 2
    assert ends == [False]
    islands_.withdraw()
    assert not islands_.ahead


def test_how_many_were_made_can_be_asked_when_they_have_just_become_whole(
    backend: Backend, tmp_path: Path
) -> None:
    islands_ = made(backend, problem_of("qap", tmp_path), RUNS[1])
    assert not islands_.ahead
    assert islands_.made() == 3 * 16  # before anything was attempted


def test_a_generation_is_lost_once_to_handlers_that_let_the_run_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("islands.run.alarm._LOOKS", 0.001)
    monkeypatch.setattr("islands.run.alarm._GRACE", 0.001)
    looked, lost = threading.Semaphore(0), list[int]()

    def takes_call() -> bool:
        looked.release()
        return True

    archipelago = SimpleNamespace(ahead=range(7, 9))
    archipelago.give_up = lambda: lost.append(archipelago.ahead[0])
    called = SimpleNamespace(requested=0, takes_call=takes_call)
    with Alarm(archipelago, called, lambda: False):  # type: ignore[arg-type]
        for ahead in (range(7, 9), range(0), range(7, 8), range(8, 9)):
            archipelago.ahead = ahead
            for _ in range(20):
                looked.acquire()
    assert lost == [7, 8]


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("closed")])
def test_a_run_to_which_nobody_listens_heeds_its_deadline(error: Exception) -> None:
    def broken() -> None:
        looked.append(True)
        raise error

    looked, told = list[bool](), threading.Event()
    archipelago = SimpleNamespace(give_up=told.set, ahead=range(0))
    slow = SimpleNamespace(look=broken)
    with Alarm(archipelago, Quiet(), lambda: True, slow=slow):  # type: ignore[arg-type]
        assert told.wait(20)
    assert len(looked) == 1


def done(*line: str) -> dict[str, Any]:
    """Return the result of a command that ends with generation 1."""
    command = [sys.executable, "-m", "islands", *line, "--json", "--stop", "generations=1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout))


def test_of_a_generation_0_that_is_given_up_the_best_counts(tmp_path: Path) -> None:
    problem = cities(30, tmp_path)
    backend = islands.Solver(problem, backend="cpu")._archipelago._backend
    run = ("tsp", "ga", "permutation", {}, {"name": "none"})
    whole = made(backend, problem, run)
    partial = made(backend, problem, run)
    partial.give_up()
    partial.start()  # whoever does not say so cannot do with a part
    assert not partial.is_partial
    assert partial.digests() == whole.digests()
    partial.may_be_partial = True
    adopted = list[bool]()
    partial._adopt = lambda *, everyone=False: adopted.append(everyone)  # type: ignore[method-assign]
    partial.start()
    assert partial.is_partial
    assert not adopted  # genes that nobody has written are read by no kernel
    first = whole.snapshot()
    saved = partial.snapshot()
    (best,) = partial.elite(1)
    made_ones = saved["calls"] > 0
    assert made_ones[0, 0]
    assert made_ones.sum() < made_ones.size
    assert best.cost == first["cost"][made_ones].min() == problem.cost(best.solution)
    assert (saved["cost"][~made_ones] > saved["cost"][made_ones].max()).all()
    assert np.array_equal(saved["genes"][made_ones], first["genes"][made_ones])


@pytest.mark.parametrize("side_by_side", [False, True])
def test_a_handler_that_lets_the_run_go_on_in_generation_0_has_all_of_it_made(
    side_by_side: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def digests() -> list[str]:
        if not side_by_side:
            return [islands.solve(problem, **asked).digest]
        spec = resolve(layers(asked), problem)
        return [run.digest for run in run_batch(spec, problem, 2, choose("cpu")).runs]

    def starting(archipelago: Archipelago) -> None:
        start(archipelago)
        begun.append(archipelago.is_partial)

    def costs(solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        if not begun:  # this is the first try
            batches.append(len(solutions))
            if len(batches) == 3:
                signal.raise_signal(signal.SIGUSR1)
            time.sleep(0.1 * len(solutions))
        return judged(solutions)

    problem, heard, batches = cities(23, tmp_path), list[int](), list[int]()
    asked: dict[str, Any] = {"algorithm": "ga", "decoding": "host", "stop": "generations=1"}
    asked |= {"islands": 2, "population": 16, "backend": "cpu"}
    undisturbed = digests()
    begun, start, judged = list[bool](), Archipelago.start, problem.costs
    monkeypatch.setattr(Archipelago, "start", starting)
    monkeypatch.setattr(problem, "costs", costs)
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        assert digests() == undisturbed
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]
    assert begun == [True, False]


def test_a_rank_that_does_not_wait_for_others_leaves_generation_0_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def costs(solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        time.sleep(0.1 * len(solutions))
        return judged(solutions)

    problem, world = cities(23, tmp_path), World()
    judged = problem.costs
    monkeypatch.setattr(problem, "costs", costs)
    asked = {"algorithm": "ga", "decoding": "host", "islands": 2, "population": 40}
    spec = resolve(layers({**asked, "improver": "none", "stop": "seconds=0.3"}), problem)
    islands_ = islands_of(spec, problem, world, choose("cpu"))
    outcome = evolve_freely(islands_, spec, problem, world, lambda _: None, Quiet(), Silent())  # type: ignore[arg-type]
    assert outcome.progress.seconds < 4  # of 8 that all would take
    assert 0 < outcome.progress.evaluations < 80
    made = f"; {outcome.progress.evaluations} individuals of generation 0 made by then"
    assert outcome.reason.endswith(f"s is at least 0.3 s{made}")


@pytest.mark.parametrize("run", RUNS[:2], ids=lambda run: f"{run[0]}-{run[1]}")
def test_generations_that_cannot_be_withdrawn_are_made_whatever_is_said(
    backend: Backend, run: tuple[Any, ...], tmp_path: Path
) -> None:
    problem = problem_of(run[0], tmp_path)
    told, untold = (made(backend, problem, run) for _ in range(2))
    told.give_up()
    if not told.attempt(1):
        told.withdraw()
    for islands_ in (told, untold):
        islands_.advance(5 - islands_.generation)
    assert told.digests() == untold.digests()


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Suspended)]
)
def test_a_run_of_an_experiment_ends_in_the_middle_of_a_long_generation(
    number: signal.Signals, error: type[BaseException], tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    experiment = Experiment("xavier2019", 1000, 1, "cpu", "", (), 1, World())
    options = {"improver.name": "tabu", "threads": 1, "population": 2048, "islands": 1}
    problem = cities(80, tmp_path)
    experiment.run(problem, **options, **{"improver.steps": 1})  # compiled from here on
    timer = threading.Timer(1.0, os.kill, (os.getpid(), number))
    timer.start()
    began = time.perf_counter()
    with suspending(), pytest.raises(error):
        experiment.run(problem, **options, **{"improver.steps": 50_000})
    assert time.perf_counter() - began < 9


def test_a_signal_to_all_processes_lets_the_compiler_finish(tmp_path: Path) -> None:
    compiler = tmp_path / "slow-c++"
    # Shells let signals through that are held back from what they start.
    compiler.write_text(
        f"#!{sys.executable}\nimport os, sys, time\nif '--version' not in sys.argv: time.sleep(2)\n"
        "os.execvp('c++', ['c++', *sys.argv[1:]])\n"
    )
    compiler.chmod(0o755)
    line = [sys.executable, "-m", "islands", "run", "demo/tsp", "--backend", "cpu"]
    with subprocess.Popen(
        [*line, "--improver", "none", "--out", str(tmp_path / "a")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CXX": str(compiler), "ISLANDS_CACHE": str(tmp_path / "cache")},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for shown in process.stdout:
            if shown.startswith("compiling"):
                break
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGTERM)
        said = process.stdout.read()
        assert process.wait(60) == 75, said
    assert "checkpoint written" in said


def test_seconds_of_an_experiment_are_those_of_whole_generations(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    experiment = Experiment("xavier2019", 1000, 1, "cpu", "", (), 1, World())
    options = {"improver.name": "tabu", "threads": 1, "population": 64, "islands": 1}
    options |= {"improver.every": 2, "improver.steps": 50_000, "stop": "seconds=1.5"}
    run = experiment.run(cities(80, tmp_path), **options)
    assert run.generations == 0  # a step of two has searches that take long
    assert run.seconds < 0.5
