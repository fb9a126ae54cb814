"""Documentation, messages, comments and names of tests use established terms."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import PAGES, ROOT

WORDS = {
    r"roads?": "transport",
    r"mend(s|ed|ing)?": "hint, fix",
    r"things?": "item, or the exact noun",
    r"so many(?! \w+ (that|as)\b)|as many as": "N items, at most `limit`, the given number of",
    r"manieth": "migration number, attempt number",
    r"on end": "consecutive",
    r"crown(s|ed|ing)?": "find the best",
    r"(take|takes|took|taken|keeps?|kept|leaves?|without) hold": "lock",
    r"side by side|(runs|ran|evolve|evolves) together": "concurrent, in one batch",
    r"beside": "next to, with, in addition to",
    r"unmet|meets? nothing|met nothing": "no feasible solution found",
    r"(hears?|heard|heeds?|takes?) (a|the|no|any|another) call": "stop request",
    r"has not the (content|contents)": "checksum mismatch",
    r"nothing (is )?to be set": "without settings",
    r"lives? on in": "it reimplements ...",
}
"""Patterns of words to avoid, and the terms to use."""

_AVOIDED = {re.compile(rf"\b({words})\b", re.IGNORECASE): use for words, use in WORDS.items()}
_COMMENT_IN_C = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"""["']\w+["']""")
_FORMATTED = re.compile(r"""\w*[fF]\w*["']""")
_FIELD = re.compile(r"\{[^{}]*\}")
_CODE_IN_PAGE = re.compile(r"`[^`\n]+`")

SETTINGS = ROOT / "docs" / "settings.md"
"""Its tables are the help of settings in the package."""

FOLDERS = {
    "documentation": (*(page for page in PAGES if page != SETTINGS), ROOT / "CHANGELOG.md"),
    "settings": (SETTINGS,),
    "architecture": (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"),
    **{
        name: tuple(sorted(path for path in (ROOT / name).rglob("*") if path.is_file()))
        for name in ("tests/helpers", "tests/docs", "tests", "islands", "kernels", "launch")
    },
}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line numbers and texts: prose, comments, strings, and names of tests."""
    if path.suffix == ".md":
        text = _CODE_IN_PAGE.sub("", path.read_text(encoding="utf-8"))
        yield from enumerate(text.splitlines(), 1)
    elif path.suffix in (".cuh", ".hpp"):
        text = path.read_text(encoding="utf-8")
        for comment in _COMMENT_IN_C.finditer(text):
            yield text.count("\n", 0, comment.start()) + 1, comment[0]
    elif path.suffix == ".py" or path.read_bytes().startswith(b"#!/usr/bin/env python"):
        yield from _texts_of_python(path)
    elif path.read_bytes().startswith(b"#!/bin/sh"):
        yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)


def _texts_of_python(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            kind, text = tokenize.tok_name[token.type], token.string
            if kind == "STRING" and _NAME.fullmatch(text):
                continue
            if kind == "STRING" and _FORMATTED.match(text):
                text = _FIELD.sub("{}", text)
            if kind in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
                yield from enumerate(text.splitlines(), token.start[0])
            elif kind == "NAME" and text.startswith("test_"):
                yield token.start[0], text.replace("_", " ")


def avoided(text: str) -> list[str]:
    """Return the words to avoid in a text, each with the term to use."""
    return [f"{hit[0]!r}: {use}" for words, use in _AVOIDED.items() for hit in words.finditer(text)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_established_terms_are_used(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for path in FOLDERS[folder]
        if path != Path(__file__) and "__pycache__" not in path.parts
        for line, text in texts(path)
        for each in avoided(text)
    ]
    assert not found, "\n".join(found)


def test_words_to_avoid_are_detected(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text('def test_crown(x):  # side by side\n    return f"{x} unmet" + "a road"\n')
    assert [each for _, text in texts(script) for each in avoided(text)] == [
        "'crown': find the best",
        "'side by side': concurrent, in one batch",
        "'unmet': no feasible solution found",
        "'road': transport",
    ]
    header = tmp_path / "a.cuh"
    header.write_text("int road;  // so many\n/* on\n   end, on end */\n")
    assert [line for line, text in texts(header) for _ in avoided(text)] == [1, 2]
    page = tmp_path / "a.md"
    page.write_text("`road` is a name.\nA mended page.\n")
    assert [line for line, text in texts(page) for _ in avoided(text)] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "something broadens, as in any broadcast",
        "the `.sln` file next to the instance",
        "a folder that is locked, a lock that is held",
        "amended, recommended, uncrowned, depend on endpoints",
        "the first criterion that is met ends the run",
        "so many decimals that the sum overflows",
    ],
)
def test_plain_words_are_accepted(text: str) -> None:
    assert avoided(text) == []


def test_names_in_python_are_accepted(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text('road = result["unmet"]\nprint(f"{road} of {so_many}")\n')
    assert [each for _, text in texts(script) for each in avoided(text)] == []
