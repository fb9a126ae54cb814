"""Remarks on the content of a file, shared by readers, problems and commands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """One fact about a file: a key and a value for JSON, and a sentence for text."""

    key: str
    value: object
    words: str
