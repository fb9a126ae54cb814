"""No improver: individuals stay as the algorithm makes them."""

from __future__ import annotations

from typing import ClassVar

from islands.backends.header import Header
from islands.improvers.base import Improver


class Nothing(Improver):
    """Improves nobody."""

    name: ClassVar[str] = "none"
    header: ClassVar[Header] = Header("improvers/none.cuh")
    solution_kinds: ClassVar[tuple[str, ...]] = ("order", "subset")
