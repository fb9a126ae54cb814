from __future__ import annotations

from pathlib import Path

import numpy as np

from islands.instances.catalogue import catalogue
from islands.instances.synthetic import demo_tsp, tsplib_text, uniform_tsp
from islands.instances.tsplib import read_tsp
from islands.paths import data_folder


def test_the_generator_gives_the_embedded_instance() -> None:
    embedded = data_folder("instances") / "tsp" / "demo.tsp"
    assert tsplib_text(demo_tsp()) == embedded.read_text()


def test_the_catalogue_knows_the_embedded_instance() -> None:
    entry = catalogue().entry("demo", "tsp")
    assert entry is not None
    assert entry.size == demo_tsp().dimension


def test_what_is_written_is_read(tmp_path: Path) -> None:
    made = uniform_tsp(50, seed=5)
    path = tmp_path / "made.tsp"
    path.write_text(tsplib_text(made))
    read = read_tsp(path)
    np.testing.assert_array_equal(read.coordinates, made.coordinates)
    assert (read.name, read.comment, read.metric) == (made.name, made.comment, made.metric)


def test_cities_lie_in_the_square_and_depend_on_the_seed() -> None:
    places = uniform_tsp(5_000, seed=1, side=100).coordinates
    assert places is not None
    assert (places.min(), places.max()) == (0, 99)
    assert not np.array_equal(places, uniform_tsp(5_000, seed=2, side=100).coordinates)
