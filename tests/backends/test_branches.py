"""Branches of launches: one after another on a CPU, in one graph on a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from islands.backends import choose
from islands.backends.arguments import Arguments
from islands.backends.base import Backend, Call, Fork
from islands.backends.cuda import CudaBackend, Graphs


class Stream:
    """A stream of a fake CuPy, which writes all that happens to a common list."""

    def __init__(self, said: list[str], name: str) -> None:
        self._said, self.ptr, self.name = said, name, name

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def record(self, event: str) -> str:
        self._said.append(f"{self.name} records {event}")
        return event

    def wait_event(self, event: str) -> None:
        self._said.append(f"{self.name} waits for {event}")

    def begin_capture(self) -> None:
        self._said.append("begin")

    def end_capture(self) -> Any:
        self._said.append("end")
        return SimpleNamespace(launch=lambda _: self._said.append("graph"))


def gpu(said: list[str]) -> CudaBackend:
    """Return a backend whose CuPy only writes down what it is told."""
    backend: Any = object.__new__(CudaBackend)
    events = iter(range(100))
    streams = iter(range(1, 100))
    cuda = SimpleNamespace(
        Stream=lambda **_: Stream(said, f"s{next(streams)}"),
        Event=lambda **_: f"e{next(events)}",
        driver=SimpleNamespace(
            launchKernel=lambda kernel, *rest: said.append(f"{rest[7]} {kernel}")
        ),
    )
    backend._stream = Stream(said, "s0")
    backend._graphs = Graphs(SimpleNamespace(cuda=cuda), backend._stream)
    made: CudaBackend = backend
    return made


def call(name: str) -> Call:
    return Call(SimpleNamespace(ptr=name), 1, 1, 0, Arguments([np.int32(0)], lambda _: 0))


def test_branches_of_a_graph_begin_and_end_together() -> None:
    said: list[str] = []
    backend = gpu(said)
    one, two, three = ([call(name)] for name in "abc")
    backend.run_branches([(one, 1), (two, 2), (three, 1)], 2)
    assert said == [
        *("begin", "s0 records e0", "s1 waits for e0", "s2 waits for e0"),
        *("s0 a", "s0 a", "s1 b", "s1 b", "s1 b", "s1 b", "s2 c", "s2 c"),
        *("s1 records e1", "s0 waits for e1", "s2 records e2", "s0 waits for e2"),
        *("end", "graph"),
    ]
    del said[:]
    backend.run_branches([(one, 1), (two, 2), (three, 1)], 2)  # the graph is kept
    assert said == ["graph"]
    backend.run_branches([(one, 1), (two, 3)], 2)
    assert said.count("begin") == 1
    del said[:]
    backend.run_branches([(one, 1), (two, 3)], 80)
    assert said.count("graph") == 3
    assert said.count("begin") == 2  # of 33 and 14 generations: at most 100 of any branch


def test_one_branch_is_a_plain_repetition() -> None:
    said: list[str] = []
    backend = gpu(said)
    backend.run_branches([([call("a")], 3)], 1)
    assert said == ["begin", "s0 a", "s0 a", "s0 a", "end", "graph"]
    del said[:]
    backend.run_branches([], 5)
    backend.run_branches([([call("a")], 1)], 1)
    assert said == ["s0 a"]


def test_sequences_of_a_fork_begin_and_end_together() -> None:
    said: list[str] = []
    backend = gpu(said)
    fork = Fork([[call("b"), call("c")], [call("d")]])
    backend.run([call("a"), fork, call("e")], 2)
    once = ("s0 b", "s0 c", "s1 d")
    assert said == [
        *("begin", "s0 a", "s0 records e0", "s1 waits for e0", *once),
        *("s1 records e1", "s0 waits for e1", "s0 e"),
        *("s0 a", "s0 records e2", "s1 waits for e2", *once),
        *("s1 records e3", "s0 waits for e3", "s0 e", "end", "graph"),
    ]
    del said[:]
    backend.run([call("a"), fork])  # without a graph
    assert said == ["s0 a", *(f"s0 {each}" for each in "bcd")]


def test_forks_of_branches_have_their_own_streams() -> None:
    said: list[str] = []
    backend = gpu(said)
    forks = [Fork([[call(first)], [call(second)]]) for first, second in ("ab", "cd")]
    backend.run_branches([([fork], 1) for fork in forks], 1)
    kernels = [each for each in said if each[:2] in ("s0", "s1", "s2", "s3") and len(each) == 4]
    assert kernels == ["s0 a", "s2 b", "s1 c", "s3 d"]


def test_a_cpu_runs_branches_one_after_another(monkeypatch: Any) -> None:
    backend, ran = choose("cpu", 1), list[tuple[str, int]]()
    monkeypatch.setattr(type(backend), "run", lambda _, calls, times=1: ran.append((*calls, times)))
    branches: Any = [(["a"], 1), (["b"], 3)]
    Backend.run_branches(backend, branches, 2)
    assert ran == [("a", 2), ("b", 6)]
