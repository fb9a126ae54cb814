"""Islands of one colony, from the settings that differ between tests."""

from __future__ import annotations

from typing import Any

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.colonies import ColonySpec
from islands.improvers import ImproverSettings
from islands.settings import Settings


def one_colony(
    *,
    algorithm: str,
    encoding: str,
    settings: Settings,
    population: int,
    islands: int,
    improver: ImproverSettings | None = None,
    decoding: str = "",
    **others: Any,
) -> Archipelago:
    """Return the islands of this rank; pass `others` to `Archipelago`."""
    names = algorithm, encoding
    colony = ColonySpec(
        islands, population, *names, settings, improver or ImproverSettings(), decoding
    )
    return Archipelago(colonies=[colony], **others)
