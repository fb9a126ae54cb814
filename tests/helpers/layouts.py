"""The layouts of the kernels' structs, from their headers and the C++ compiler.

Names come from the preprocessed text. The compiler refuses an incomplete list of names and gives
the offset of each member.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from islands.backends.compiler import compiler
from islands.backends.source import Source
from islands.paths import data_folder

_TOKEN = re.compile(
    r'(?P<text>"(?:\\.|[^"\\])*")'
    r"|namespace\s+(?P<space>[\w:]*)\s*\{"
    r"|struct\s+(?:alignas\(.*?\)\s*)?(?P<struct>\w+)\s*\{"
    r"|using\s+(?P<alias>\w+)\s*=\s*(?P<meant>[\w:]+)\s*;"
    r"|static void (?P<kernel>\w+)\s*\((?P<parameters>[^(){}]*)\)\s*\{"
    r"|[{}]"
)
_LINE = re.compile(r'^# \d+ "([^"]*)".*$')
_NO_MEMBER = re.compile(r"\(|^(struct|using|static|constexpr|template|friend)\b")
_PRINTER = """
#include <cstddef>
#include <cstdio>

template <class T>
void show(size_t offset) {{
    using One = std::remove_extent_t<T>;
    const char* pointee = "-";
    if constexpr (std::is_pointer_v<One>) {{
        pointee = host::signature(static_cast<void (*)(std::remove_pointer_t<One>)>(nullptr));
    }}
    const char* kind = host::signature(static_cast<void (*)(One)>(nullptr));
    std::printf("%zu %s %s %zu\\n", offset, kind, pointee, std::extent_v<T>);
}}

int main() {{
{body}
}}
"""


@dataclass(frozen=True)
class Member:
    """One member of a struct."""

    name: str
    offset: int
    kind: str
    """A letter and a size, such as i4, P8, S24."""
    pointee: str
    """The kind of the value that it points to, or `-`."""
    type: str
    """The type as written in the header."""


@dataclass(frozen=True)
class Layout:
    """The layout of a struct."""

    size: int
    members: tuple[Member, ...]


class Headers:
    """The headers that a program includes."""

    def __init__(self, source: Source, also: Sequence[str] = ()) -> None:
        """Read the headers of a program; `also` names structs that are no kernel parameters."""
        self._source, self._also = source, also
        self.bodies: dict[str, str] = {}
        """The body of each struct, by its qualified name."""
        self._aliases: dict[str, str] = {}
        self.kernels: dict[str, list[str]] = {}
        """The types of the parameters of each kernel."""
        self._read(self._preprocessed())

    def name(self, written: str, scope: str = "") -> str | None:
        """Return the qualified name of the struct that a type names in a scope, or None."""
        bare = re.sub(r"\b(const|struct)\b|[*&\s]", "", written)
        spaces = scope.split("::") if scope else []
        for depth in range(len(spaces), -1, -1):
            whole = "::".join([*spaces[:depth], bare])
            if whole in self._aliases:
                return self.name(self._aliases[whole], "::".join(spaces[:depth]))
            if whole in self.bodies:
                return whole
        return None

    @cached_property
    def layouts(self) -> dict[str, Layout]:
        """The layouts of all structs among the kernels' parameters, and of their members."""
        taken = [each for types in self.kernels.values() for each in types]
        waiting = [self.name(each) for each in (*taken, *self._also)]
        members: dict[str, list[tuple[str, str]]] = {}
        while waiting:
            struct = waiting.pop()
            if struct is not None and struct not in members:
                members[struct] = list(_members(self.bodies[struct]))
                scope = struct.rpartition("::")[0]
                waiting += [self.name(written, scope) for _, written in members[struct]]
        printed = iter(self._printed("".join(_showing(*each) for each in members.items())))
        return {struct: _layout(names, printed) for struct, names in members.items()}

    def _preprocessed(self) -> str:
        """Return the preprocessed text of the kernels, without the system's headers."""
        kept, is_ours = list[str](), True
        folder, own = str(data_folder("kernels")), self._source.own()
        for line in self._compiled("-E", self._text("")).splitlines():
            if mark := _LINE.match(line):
                is_ours = mark[1] == "<stdin>" or mark[1].startswith(folder)
                is_ours |= Path(mark[1]).name in own
            elif is_ours:
                kept.append(line)
        return "\n".join(kept)

    def _printed(self, body: str) -> list[str]:
        with TemporaryDirectory() as folder:
            program = Path(folder, "program")
            self._compiled("-o", self._text(_PRINTER.format(body=body)), str(program))
            return subprocess.run(
                [program], capture_output=True, text=True, check=True
            ).stdout.splitlines()

    def _text(self, rest: str) -> str:
        return f'#include "{self._source.entry}"\n{rest}'

    def _compiled(self, do: str, text: str, *to: str) -> str:
        command = [*compiler()[0], "-std=c++17", "-w", "-pthread", *self._source.options()]
        with TemporaryDirectory() as own:
            for name, content in self._source.own().items():
                Path(own, name).write_text(content, encoding="utf-8")
            done = subprocess.run(
                [*command, f"-I{own}", do, *to, "-x", "c++", "-"],
                input=text, text=True, capture_output=True,
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _read(self, text: str) -> None:
        scopes: list[str] = []
        for token in _TOKEN.finditer(text):
            inside = "::".join(scope for scope in scopes if scope)
            whole = "::".join(filter(None, [inside, token["struct"] or token["alias"]]))
            if token["struct"]:
                self.bodies[whole] = _block(text, token.end())
            elif token["alias"]:
                self._aliases[whole] = token["meant"]
            elif token["kernel"]:
                self.kernels[token["kernel"]] = [
                    re.sub(r"(?<=[\s*&])\w+$", "", each.strip()).strip()
                    for each in token["parameters"].split(",")
                ]
            if token[0].endswith("{"):
                scopes.append(token["space"] or token["struct"] or "")
            elif token[0] == "}":
                scopes.pop()
        assert not scopes, "braces are not balanced"


def _showing(struct: str, members: Sequence[tuple[str, str]]) -> str:
    """Return C++ that prints a layout; it does not compile if a member is missing."""
    names = ", ".join(f"m{i}" for i in range(len(members)))
    bound = f"[[maybe_unused]] auto all = [](T& t) {{ auto& [{names}] = t; }};\n"
    shown = [f"show<decltype(T::{name})>(offsetof(T, {name}));\n" for name, _ in members]
    size = 'std::printf("%zu\\n", sizeof(T));\n'
    return f"{{\nusing T = {struct};\n{bound if members else ''}{size}{''.join(shown)}}}\n"


def _layout(members: Sequence[tuple[str, str]], printed: Iterator[str]) -> Layout:
    size, found = int(next(printed)), list[Member]()
    for name, written in members:
        offset, kind, pointee, count = next(printed).split()
        # In Python, each entry of an array is a member.
        for i in range(max(1, int(count))):
            place, own = int(offset) + i * int(kind[1:]), f"{name}{i}" if int(count) else name
            found.append(Member(own, place, kind, pointee, written))
    return Layout(size, tuple(found))


def _block(text: str, begin: int) -> str:
    """Return the text of a block up to its closing brace, without inner blocks."""
    kept, depth = list[str](), 0
    for letter in text[begin:]:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            break
        if letter == "}" and depth == 0:
            kept.append(";")
        elif depth == 0:
            kept.append(letter)
    return "".join(kept)


def _members(body: str) -> Iterator[tuple[str, str]]:
    """Yield name and type of each member in the body of a struct."""
    for declaration in map(str.strip, body.split(";")):
        if not declaration or _NO_MEMBER.search(declaration):
            continue
        names = [re.sub(r"=.*|\[.*", "", each).strip() for each in declaration.split(",")]
        written = re.sub(r"\w+$", "", names[0]).strip()
        for name in names:
            yield re.findall(r"\w+$", name)[0], written
