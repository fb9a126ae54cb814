"""Merge two CUDA texts: functions of the second take the place of those of the first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from islands.errors import UsageError
from islands.modelling.header import without_comments

OLD = "old_"
"""What the name of a replaced function or struct begins with."""
_BEGIN = re.compile(
    r"\bstruct\s+(?P<struct>\w+)[^;{}()]*\{"
    r"|__device__[^;{}()]*?\b(?P<function>\w+)\s*\([^;{}]*\)\s*(?:const\s*)?\{"
)
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True)
class _Part:
    """A function or a struct of a text."""

    name: str
    is_struct: bool
    begin: int
    end: int


def merged(text: str, more: str) -> str:
    """Return a text to which functions and structs are added.

    Each takes the place of those of `text` with its name, which are then called `old_NAME`. What
    precedes it in `more` comes with it.
    """
    own, others = _parts(text), _parts(more)
    names = {part.name for part in own}
    added: dict[str, str] = {}
    at = 0
    for part in others:
        if part.name in names:
            added[part.name] = added.get(part.name, "") + "\n" + more[at : part.end]
            at = part.end
    for name in added:
        if OLD + name in names:
            raise UsageError(
                f"{name}: was changed before, and the text has {OLD}{name} already. Make both"
                " changes in one call"
            )
    last = {part.name: part for part in own if part.name in added}
    result, at = "", 0
    for part in own:
        if part.name not in added:
            continue
        result += text[at : part.begin] + _renamed(text[part.begin : part.end], part)
        at = part.end
        if part is last[part.name]:
            result += added[part.name]
    return result + text[at:] + more[_end(others, names) :]


def _end(parts: list[_Part], names: set[str]) -> int:
    """Return the end of the last part with one of the names."""
    return max((part.end for part in parts if part.name in names), default=0)


def _renamed(text: str, part: _Part) -> str:
    call = "" if part.is_struct else r"(?=\s*\()"
    return re.sub(rf"\b{part.name}\b{call}", OLD + part.name, text)


def _parts(text: str) -> list[_Part]:
    """Return the functions and structs of a text in order, not those within others."""
    plain, found, at = without_comments(text), list[_Part](), 0
    while match := _BEGIN.search(plain, at):
        at, depth = match.end(), 1
        while depth and (brace := _BRACE.search(plain, at)):
            at, depth = brace.end(), depth + (1 if brace[0] == "{" else -1)
        if match["struct"]:
            semicolon = plain.find(";", at)
            at = semicolon + 1 if semicolon >= 0 else len(plain)
        found.append(
            _Part(match["struct"] or match["function"], bool(match["struct"]), match.start(), at)
        )
    return found
