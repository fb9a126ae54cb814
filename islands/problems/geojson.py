"""A tour as GeoJSON (RFC 7946), for maps: a line along the tour, and a point for each stop.

A path of one city is a point instead of a line, which needs two positions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.instances.tsplib import TspFile
from islands.problems import messages
from islands.problems.distances import decimal_degrees


def geojson_of(file: TspFile, tour: NDArray[np.int64], cost: float) -> dict[str, Any]:
    """Return a tour of a file's cities, in longitude and latitude.

    Legs are straight lines, as a table of a routing engine has no geometry.
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
    kind, way = ("LineString", line) if len(line) > 1 else ("Point", line[0])
    whole = _feature(kind, way, {"name": file.name, "length": cost})
    return {"type": "FeatureCollection", "features": [whole, *points]}


def _feature(kind: str, coordinates: list[Any], properties: dict[str, Any]) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def places_of(file: TspFile) -> NDArray[np.float64]:
    """Return the longitude and latitude of each city, from `places` or TSPLIB's GEO coordinates."""
    if file.metric == "GEO" and file.coordinates is not None:
        return decimal_degrees(file.coordinates)[:, ::-1]
    if file.places is None:
        raise messages.no_places(file=file)
    return file.places
