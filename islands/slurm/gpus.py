"""The GPUs of each node that a site or a user requests, with their type: `4` or `a100:4`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_FORM = re.compile(r"(?:(?P<type>[A-Za-z][\w.-]*)(?::(?=\d)|$))?(?P<number>\d+)?")


@dataclass(frozen=True)
class Gpus:
    """A number of GPUs, of one type or of any."""

    number: int
    type: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the GPUs of `4`, `a100:4` or `a100`, which is one."""
        match = _FORM.fullmatch(text)
        if match is None or not text:
            raise ValueError("must be a number of GPUs with an optional type, such as 4 or a100:4")
        number = match["number"]
        return cls(1 if number is None else int(number), match["type"] or "")

    def __str__(self) -> str:
        return f"{self.type}:{self.number}" if self.type else str(self.number)


def take_gpus(directives: dict[str, str], nodes: int) -> Gpus | None:
    """Remove all requests for GPUs from the options of sbatch; return the GPUs of each node.

    Slurm has several such options, which would contradict each other.
    """
    of_node = directives.pop("gpus-per-node", None)
    of_task = directives.pop("gpus-per-task", None)
    total = directives.pop("gpus", None)
    of_gres = _take_gres(directives)
    if text := of_node or of_gres or of_task:
        return Gpus.parse(text)
    if total is None:
        return None
    gpus = Gpus.parse(total)
    if gpus.number % nodes:
        raise ValueError(f"must be a multiple of the number of nodes, {nodes}")
    return Gpus(gpus.number // nodes, gpus.type)


def _take_gres(directives: dict[str, str]) -> str | None:
    """Remove the GPUs from --gres, such as `gpu:a100:4`; return the rest of their words."""
    resources = [each for each in directives.pop("gres", "").split(",") if each]
    others = [each for each in resources if each.split(":")[0] not in ("gpu", "gres/gpu")]
    if others:
        directives["gres"] = ",".join(others)
    gpus = [each for each in resources if each not in others]
    return gpus[0].partition(":")[2] or "1" if gpus else None
