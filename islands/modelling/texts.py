"""CUDA code of the user, with the code that precedes it and the code of a base class."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from islands.backends.source import CONTRACT, WHOLE
from islands.errors import UsageError
from islands.modelling import messages
from islands.modelling.signatures import Signature
from islands.paths import reading

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BASE = re.compile(r"\bbase\s*::")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*include\b([^\n]*)", re.MULTILINE)
_RETURNS = {"long long": False, "double": True}
_QUALIFIERS = ("__device__", "static", "inline", "__forceinline__", "__host__", "constexpr")
_WHOLE = re.compile(r"\blong long(?=\s+(cost|violation|delta|change|apply)\s*\([^)]*\)\s*[{;])")


def without_comments(code: str) -> str:
    """Return code with spaces instead of its comments."""
    return _COMMENTS.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), code)


@lru_cache(maxsize=64)  # each text is searched several times
def _declared(code: str, function: str) -> tuple[re.Match[str], ...]:
    pattern = rf"([A-Za-z_][\w \t:]*?)\s+{function}\s*\(([^)]*)\)\s*\{{"
    return tuple(re.finditer(pattern, _COMMENTS.sub(" ", code)))


@dataclass(frozen=True)
class Text:
    """CUDA code of the user, and its file name in compiler messages."""

    name: str
    code: str
    before: tuple[Text, ...] = ()
    """Code in front of it: constants, and functions that it calls."""
    base: Text | None = None
    """The code of a base class, whose functions it calls as `base::NAME`."""

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Text:
        """Return the text that was stored by `dataclasses.asdict`."""
        before, base = stored.get("before", ()), stored.get("base")
        return cls(
            stored["name"],
            stored["code"],
            tuple(map(cls.restored, before)),
            None if base is None else cls.restored(base),
        )

    @classmethod
    def of(cls, argument: str, value: Any) -> Text:
        """Return the code of an argument: a string, the path of a file, or a `Text`."""
        if isinstance(value, Text):
            return value
        if isinstance(value, Path):
            with reading(value):
                return cls(re.sub(r"[^\w.-]", "_", value.name), value.read_text(encoding="utf-8"))
        if not isinstance(value, str):
            raise messages.not_code(argument=argument, value=value)
        is_code = any(mark in value for mark in ("\n", "(", ";", "{"))
        if not is_code and Path(value).suffix:
            raise UsageError(
                f"{argument}={value!r}: looks like a file. Pass pathlib.Path({value!r})"
            )
        return cls(f"{argument}.cu", value)

    @property
    def calls_base(self) -> bool:
        """Whether it calls functions of a base class."""
        return bool(_BASE.search(without_comments(self.code)))

    @property
    def layers(self) -> list[Text]:
        """The texts of all base classes, and this one."""
        return [*([] if self.base is None else self.base.layers), self]

    def declared(self, function: str) -> list[re.Match[str]]:
        """Return a match for each definition of a function, with its return type and parameters.

        If there are none, return those of the base class.
        """
        matches = list(_declared(self.code, function))
        return matches or ([] if self.base is None else self.base.declared(function))

    def section(self, signature: Signature | None = None) -> str:
        """Return the part of a header that defines a function."""
        before = "".join(f"{text.section()}\n" for text in self.before)
        contract = "" if signature is None else f"{CONTRACT}{signature.text}\n"
        return f'{before}{contract}#line 1 "{self.name}"\n{self.checked}'

    def namespace(
        self,
        name: str,
        signature: Signature | None = None,
        head: str = "",
        inside: str = "",
        end: str = "}",
    ) -> str:
        """Return the namespace of a function, nested in the namespaces of its base classes.

        A text thus hides equal names of its base class, and can use all other names.
        `head` precedes all texts; `inside` follows them.
        """
        scope, colons, last = name.rpartition("::")
        layers = self.layers
        names = [*(f"{last}_{k}" for k in range(len(layers) - 1)), last]
        code = f"namespace {scope}{colons}{names[0]} {{\n{head}{layers[0].section(signature)}"
        for base, inner, layer in zip(names, names[1:], layers[1:], strict=False):
            code += f"\nnamespace {inner} {{\nnamespace base = {base};\nusing namespace base;\n"
            code += layer.section(signature)
        code += f"{inside}\n{end}" + "\n}" * (len(layers) - 1)
        if len(layers) == 1:
            return code
        alias = f"namespace {last} = {'::'.join(names)};"
        return f"{code}\n" + (f"namespace {scope} {{\n{alias}\n}}" if scope else alias)

    @property
    def checked(self) -> str:
        """The code, changed so that functions declared as long long cannot return real numbers."""
        plain, code = without_comments(self.code), self.code
        for match in reversed(list(_WHOLE.finditer(plain))):
            code = f"{code[: match.start()]}{WHOLE}{code[match.end() :]}"
        return code

    def require(self, signature: Signature) -> None:
        """Reject code that lacks a function of this signature, or that includes headers.

        Headers cannot be included, as the code is compiled inside a namespace.
        """
        for text in (text for layer in self.layers for text in (*layer.before, layer)):
            text._reject_includes()
        signature.require(self.name, [match[2] for match in self.declared(signature.function)])

    def _reject_includes(self) -> None:
        if include := _DIRECTIVE.search(_COMMENTS.sub(" ", self.code)):
            raise messages.included_header(name=self.name, header=include[1].rstrip())

    def require_both(self, signature: Signature) -> None:
        """Reject a function that does not return the changes of both cost and violation."""
        self.require(signature)
        for kind in self._returned(signature.function):
            if kind != "Change":
                raise messages.not_a_change(
                    name=self.name, function=signature.function, returned=kind
                )

    def _returned(self, function: str) -> list[str]:
        """Return the return types of the definitions of a function."""
        types = (match[1].split() for match in self.declared(function))
        return [" ".join(word for word in words if word not in _QUALIFIERS) for words in types]

    def returns_real(self, signature: Signature) -> bool:
        """Return whether a function returns a floating-point number."""
        self.require(signature)
        kinds = set()
        for kind in self._returned(signature.function):
            if kind not in _RETURNS:
                raise messages.not_a_cost(
                    name=self.name,
                    function=signature.function,
                    returned=kind,
                    declaration=signature.text,
                )
            kinds.add(_RETURNS[kind])
        if len(kinds) > 1:
            raise UsageError(
                f"{self.name}: {signature.function} is defined with two return types. Choose one"
            )
        return kinds.pop()
