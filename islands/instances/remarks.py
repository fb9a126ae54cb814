"""What reading a file has shown, for those who asked to have it checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """One fact about a file: a value under a key for programs, and in words for people."""

    key: str
    value: object
    words: str
