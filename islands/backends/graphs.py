"""CUDA graphs of repeated launches, whose branches a GPU may run at the same time."""

from __future__ import annotations

import ctypes
from typing import Any

from islands.backends.base import Branches, Call


class Graphs:
    """Captures launches on a stream of CuPy; each graph is kept as long as its first launch."""

    def __init__(self, cupy: Any, stream: Any) -> None:
        self._cupy, self._stream = cupy, stream
        self._aside: list[Any] = []
        """Streams for the branches after the first."""

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
        """Launch the first branch on the main stream, and each other one on a stream of its own.

        A stream that waits for an event of a captured one is captured, too.
        """
        while len(self._aside) < len(branches) - 1:
            self._aside.append(self._cupy.cuda.Stream(non_blocking=True))
        others = self._aside[: len(branches) - 1]
        if others:
            begin = self._stream.record(self._event())
        for stream in others:
            stream.wait_event(begin)
        for (calls, repeats), stream in zip(branches, [self._stream, *others], strict=True):
            for _ in range(repeats * length):
                for call in calls:
                    self.launch(call, stream)
        for stream in others:
            self._stream.wait_event(stream.record(self._event()))

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
