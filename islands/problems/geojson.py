"""A tour as GeoJSON (RFC 7946) for maps: a line along the tour, and a point for each stop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.instances.tsplib import TspFile


def geojson_of(file: TspFile, tour: NDArray[np.int64], cost: float) -> dict[str, Any]:
    """Return a tour of a file's cities, in longitude and latitude.

    Legs are straight lines, as the response of a routing engine has no geometry.
    """
    places = places_of(file)[tour].tolist()
    labels = file.labels
    line = places if file.ends is not None else [*places, places[0]]
    points = [
        _feature(
            "Point",
            place,
            {"stop": stop, "city": city, **({"label": labels[city]} if labels else {})},
        )
        for stop, (city, place) in enumerate(zip(tour.tolist(), places, strict=True))
    ]
    features = [_feature("LineString", line, {"name": file.name, "length": cost}), *points]
    return {"type": "FeatureCollection", "features": features}


def _feature(kind: str, coordinates: list[Any], properties: dict[str, Any]) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def places_of(file: TspFile) -> NDArray[np.float64]:
    """Return longitude and latitude of each city in degrees; refuse other coordinates."""
    if file.metric == "GEO" and file.coordinates is not None:
        degrees = np.trunc(file.coordinates)
        return (degrees + 5 * (file.coordinates - degrees) / 3)[:, ::-1]
    places = file.coordinates if file.places is None else file.places
    if places is None or (np.abs(places) > [180, 90]).any():
        have = "no coordinates" if places is None else "coordinates beyond 180 and 90 degrees"
        raise UsageError(
            f"{file.name}: has {have}, so its tours cannot be drawn on a map. Pass places=, the"
            " longitude and latitude of each city, to islands.tsp"
        )
    return places
