"""CUDA texts with numbers of an instance, which compilers know."""

from __future__ import annotations

from collections.abc import Mapping


def filled(text: str, numbers: Mapping[str, object]) -> str:
    """Return a text with numbers in the place of their names in braces, such as `{jobs}`."""
    for name, value in numbers.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text
