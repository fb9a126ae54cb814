"""Responses of routing engines, written by hand in the format of their services."""

import json
from pathlib import Path
from typing import Any

import pytest

import islands
from islands.errors import UsageError

LENGTHS: list[list[float | None]] = [[0, 12.5, 30], [10.1, 0, None], [29.9, 8, 0]]
METRES: list[list[float | None]] = [[0, 100, 300], [90, 0, 250], [310, 80, 0]]
PLACES = [[13.4, 52.5], [13.5, 52.6], [13.3, 52.4]]
NAMES = ["Depot", "Market", "School"]

_NAMED = [{"location": p, "name": name} for p, name in zip(PLACES, NAMES, strict=True)]
OSRM: dict[str, Any] = {"code": "Ok", "durations": LENGTHS, "distances": METRES}
OSRM |= {"sources": _NAMED, "destinations": _NAMED}
PLACE = {"location": PLACES[2], "name": ""}
_POINTS = [{"lon": lon, "lat": lat} for lon, lat in PLACES]
VALHALLA: dict[str, Any] = {"sources": [_POINTS], "targets": [_POINTS], "units": "kilometers"}
VALHALLA["sources_to_targets"] = [
    [{"time": LENGTHS[i][j], "distance": METRES[i][j], "to_index": j} for j in range(3)]
    for i in range(3)
]
SHORT = {"sources_to_targets": {"durations": LENGTHS, "distances": METRES}, "units": "kilometers"}
GRAPHHOPPER = {"times": LENGTHS, "distances": METRES, "weights": METRES, "info": {}}
ANSWERS = {"osrm": OSRM, "valhalla": VALHALLA, "short": SHORT, "graphhopper": GRAPHHOPPER}
DISTANCE = {"osrm": "distances", "valhalla": "distance", "short": "distances"}


@pytest.mark.parametrize("engine", ANSWERS)
def test_a_table_is_taken_as_it_comes(engine: str, tmp_path: Path) -> None:
    problem = islands.tsp(distances=ANSWERS[engine])
    assert problem.cost([0, 2, 1]) == 30 + 8 + 10.1
    with pytest.raises(islands.errors.RunError, match="no leg leads from 1 to 2"):
        problem.cost([0, 1, 2])
    path = tmp_path / "table.json"
    path.write_text(json.dumps(ANSWERS[engine]))
    field = DISTANCE.get(engine, "weights")
    assert islands.tsp(distances=path, field=field).cost([0, 1, 2]) == 100 + 250 + 310
    assert islands.tsp(distances=str(path)).cost([0, 2, 1]) == 48.1
    for same in ("time", "durations"):
        assert islands.tsp(distances=path, field=same).cost([0, 2, 1]) == 48.1
    for same in ("distance", "distances"):
        assert islands.tsp(distances=path, field=same).cost([0, 1, 2]) == 660


def test_names_and_places_are_kept_for_maps() -> None:
    problem = islands.tsp(distances=OSRM, start=0, end=1)
    assert problem.file.labels == tuple(NAMES)
    line, *stops = problem.geojson([0, 2, 1])["features"]
    assert line["geometry"]["coordinates"] == [PLACES[0], PLACES[2], PLACES[1]]
    assert line["properties"]["length"] == 38
    assert [each["properties"]["label"] for each in stops] == ["Depot", "School", "Market"]
    unnamed = islands.tsp(distances=OSRM | {"sources": [*OSRM["sources"][:2], PLACE]})
    assert unnamed.file.labels == ("Depot", "Market", "2")
    closed = islands.tsp(distances=VALHALLA).geojson([0, 2, 1])["features"][0]
    assert len(closed["geometry"]["coordinates"]) == 4


def test_a_tour_without_places_is_on_no_map() -> None:
    with pytest.raises(UsageError, match="no coordinates"):
        islands.tsp(distances=GRAPHHOPPER).geojson([0, 2, 1])
    problem = islands.tsp(distances=GRAPHHOPPER, places=PLACES)
    line, *_ = problem.geojson([0, 2, 1])["features"]
    assert line["geometry"]["coordinates"] == [PLACES[k] for k in (0, 2, 1, 0)]
    with pytest.raises(UsageError, match=r"places\[1, 1\] = 95.0: must be a latitude"):
        islands.tsp(distances=GRAPHHOPPER, places=[[13, 52], [13, 95], [13, 52]])
    plane = [[0, 0], [3, 0], [3, 4]]  # which could be degrees by its numbers
    for metric in (None, "EUC_2D", "ATT"):
        with pytest.raises(UsageError, match=r"planar coordinates .* as places="):
            islands.tsp(plane, metric).geojson([0, 2, 1])
    line, *_ = islands.tsp(plane, "EUC_2D", places=PLACES).geojson([0, 2, 1])["features"]
    assert line["geometry"]["coordinates"][0] == PLACES[0]
    line, *_ = islands.tsp([[52.30, 13.15]] * 3, "GEO").geojson([0, 2, 1])["features"]
    assert line["geometry"]["coordinates"][0] == pytest.approx([13.25, 52.5])


def test_a_tour_of_one_city_is_a_point_or_a_line_of_two_positions() -> None:
    path = islands.tsp(distances=[[0]], places=PLACES[:1], start=0).geojson([0])["features"]
    assert [each["geometry"] for each in path] == [{"type": "Point", "coordinates": PLACES[0]}] * 2
    assert path[0]["properties"]["length"] == 0
    line, _ = islands.tsp(distances=[[0]], places=PLACES[:1]).geojson([0])["features"]
    assert line["geometry"] == {"type": "LineString", "coordinates": [PLACES[0]] * 2}
