"""The messages of sanitizers in words of the problem: which array, which index, which line."""

from __future__ import annotations

import re
import signal

from islands.backends.refused import own_line
from islands.check.contained import Ended

_FAULT = re.compile(r"AddressSanitizer: ([\w-]+)(?: on (?:unknown )?address (0x[0-9a-f]+))?")
_ACCESS = re.compile(r"\b(READ|WRITE) (?:of size|memory access)")
_LOCAL = re.compile(r"'(\w+)'(?: \(line \d+\))? <== Memory access at offset \d+ (\w+)flows")
_UNDEFINED = re.compile(r"(\S+?):(\d+):\d+: runtime error: ([^\n]*)")
_NEAR = 1 << 34
"""Bytes from an array within which there is no other memory."""


def fault_of(ended: Ended, text: str, seconds: float, shown: str) -> str:
    """Return the fault of a process; `text` is the header of the problem, `shown` a solution."""
    call = f"{ended.step} of the solution {shown}"
    if ended.status is None:
        return (
            f"{call}: did not return within {seconds:g} s. Correct a loop that does not end, or"
            " allow more time with seconds="
        )
    if undefined := _UNDEFINED.search(ended.log):
        place = own_line(text, undefined[1], int(undefined[2])) or ""
        where = place or f"{undefined[1]}, line {undefined[2]}"
        return f"{where}: {undefined[3]}: in the {call}. Correct this line"
    if found := _FAULT.search(ended.log):
        fix = "Use less memory" if found[1] == "stack-overflow" else "Correct the index"
        return f"{_place(ended.log, text)}{_words(ended, found)}: in the {call}. {fix}"
    status = ended.status
    name = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"{call}: ended the process ({name}). Correct an index or a division by zero"


def _words(ended: Ended, found: re.Match[str]) -> str:
    kind, address = found[1], found[2]
    access = _ACCESS.search(ended.log)
    verb = "writes" if access is not None and access[1] == "WRITE" else "reads"
    if kind == "stack-overflow":
        return "needs too much stack: large local arrays, or a recursion without end"
    if local := _LOCAL.search(ended.log):
        side = "after the end" if local[2] == "over" else "before the begin"
        return f"{verb} {side} of the local array {local[1]}"
    if address is None or not ended.arrays:
        return f"{verb} an address outside of all arrays ({kind})"
    distance, name, index = _nearest(ended, int(address, 16))
    length = ended.arrays[name][1]
    entry = f"data.{name}[{index}]" if name != "s" else f"s[{index}]"
    if name == "s" and ended.packs:
        return f"{verb} s[{32 * index}] or an item near it, which does not exist"
    if distance >= _NEAR:
        return f"{verb} an address outside of all arrays ({kind})"
    return f"{verb} {entry}, but its length is {length} (0 to {length - 1})"


def _nearest(ended: Ended, address: int) -> tuple[int, str, int]:
    """Return the distance of the array that is nearest to an address, its name, and the index."""
    found = []
    for name, (begin, length, size) in ended.arrays.items():
        distance = max(begin - address, address - begin - length * size, 0)
        found.append((distance, name, (address - begin) // size))
    return min(found)


def _place(log: str, text: str) -> str:
    """Return the first line of the user's code in a stack trace."""
    for name, line in re.findall(r"([\w.-]+):(\d+)(?::\d+)?\)?$", log, re.MULTILINE):
        if place := own_line(text, name, int(line)):
            return f"{place}: "
    return ""
