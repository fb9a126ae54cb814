"""CUDA graphs of repeated launches, whose branches a GPU may run at the same time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from islands.backends.base import Branches, Call, Calls, Fork


class Graphs:
    """Captures launches on a stream of CuPy; each graph is kept as long as its first launch."""

    def __init__(self, cupy: Any, stream: Any) -> None:
        self._cupy, self._stream = cupy, stream
        self._idle: dict[Any, list[Any]] = {}
        """Streams not in use, by the pointer of the stream from which they branch off."""

    def graph(self, branches: Branches, length: int) -> Any:
        """Return a graph in which each branch is repeated by its number times `length`."""
        first = branches[0][0][0]
        key = (length, *((*calls, repeats) for calls, repeats in branches))
        if key not in first.repeated:
            self._stream.begin_capture()
            self._capture(branches, length)
            first.repeated[key] = self._stream.end_capture()
        return first.repeated[key]

    def _capture(self, branches: Branches, length: int) -> None:
        def repeat(calls: Calls, times: int, stream: Any) -> None:
            for _ in range(times):
                self._launch_all(calls, stream)

        jobs = [partial(repeat, calls, repeats * length) for calls, repeats in branches]
        self._together(jobs, self._stream)

    def _launch_all(self, calls: Calls, stream: Any) -> None:
        for call in calls:
            if isinstance(call, Fork):
                jobs = [partial(self._launch_all, each) for each in call.sequences]
                self._together(jobs, stream)
            else:
                self.launch(call, stream)

    def _together(self, jobs: Sequence[Callable[[Any], None]], stream: Any) -> None:
        """Run the first job on a stream, and each other one on a stream of its own.

        A stream that waits for an event of a captured one is captured, too.
        """
        idle = self._idle.setdefault(stream.ptr, [])
        others = [idle.pop() if idle else self._new_stream() for _ in jobs[1:]]
        if others:
            begin = stream.record(self._event())
        for other in others:
            other.wait_event(begin)
        for job, of_job in zip(jobs, [stream, *others], strict=True):
            job(of_job)
        for other in others:
            stream.wait_event(other.record(self._event()))
        idle += reversed(others)

    def _new_stream(self) -> Any:
        return self._cupy.cuda.Stream(non_blocking=True)

    def _event(self) -> Any:
        return self._cupy.cuda.Event(disable_timing=True)

    def launch(self, call: Call, stream: Any) -> None:
        """Launch a kernel on a stream."""
        self._cupy.cuda.driver.launchKernel(
            call.kernel.ptr,
            *(call.blocks, 1, 1),
            *(call.threads, 1, 1),
            call.fast_bytes,
            stream.ptr,
            ctypes.addressof(call.arguments.pointers),
            0,
        )
