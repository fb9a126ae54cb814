from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from fakes import FakeProblem

from islands.configuration.resolve import layers, resolve
from islands.errors import InputError
from islands.record.inputs import read_settings, require_intact, write_settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_settings(tmp_path, resolve(layers({"stop": "generations=100"}), FakeProblem()))
    return tmp_path


def test_the_file_is_toml_and_is_read_again(folder: Path) -> None:
    assert read_settings(folder) == tomllib.loads((folder / "run.toml").read_text())
    assert read_settings(folder)["stop"] == ["generations=100"]


def test_every_flipped_bit_is_detected_or_harmless(folder: Path) -> None:
    path, settings = folder / "run.toml", read_settings(folder)
    content = bytearray(path.read_bytes())
    noticed = 0
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            path.write_bytes(content)
            try:
                assert read_settings(folder) == settings
            except InputError:
                noticed += 1
            content[place] ^= 1 << bit
    assert noticed > 7 * len(content)


def test_the_error_explains_how_to_change_settings_on_purpose(folder: Path) -> None:
    path = folder / "run.toml"
    path.write_text(path.read_text().replace("generations=100", "generations=200"))
    with pytest.raises(InputError, match="remove its last line"):
        require_intact(folder)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    assert read_settings(folder)["stop"] == ["generations=200"]


def test_a_key_with_too_many_parts_is_refused_quickly(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(".".join("a" * 20_000) + " = 1\n")
    with pytest.raises(InputError, match="1000"):
        layers({}, path)


def test_a_large_file_of_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match="1048576"):
        layers({}, path)
