"""A program that compiles quickly, for tests of compiling and launching."""

from __future__ import annotations

from pathlib import Path

from islands.backends.source import Source

SCAN = Source(str(Path(__file__).with_name("scan.cuh")))
