"""The files of launch/packaging/ agree with pyproject.toml, and name no hosts."""

import re
import tomllib

import pytest
from fake_machine import ROOT

FOLDER = ROOT / "launch" / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_CONDA = {"pyarrow": "pyarrow-core"}
"""The names of packages there, if they differ."""


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["meta.yaml", "environment.yml"])
def test_conda_has_the_dependencies_of_the_project(name: str) -> None:
    lines = {line.strip().removeprefix("- ") for line in text(name).splitlines()}
    for each in PROJECT["dependencies"]:
        package, least = each.split(">=")
        assert f"{_CONDA.get(package, package)} >={least}" in lines
    assert f"python {PROJECT['requires-python']}" in lines


@pytest.mark.parametrize("name", ["Dockerfile", "islands.def"])
def test_images_install_extras_that_exist(name: str) -> None:
    found = re.findall(r"extras=([\w,]+)", text(name), re.IGNORECASE)
    assert found
    for extras in found:
        assert {*extras.split(",")} <= {*PROJECT["optional-dependencies"]}


def test_a_release_reads_the_version_where_it_is() -> None:
    (pattern,) = re.findall(r"sed -n 's/\^(.*?) = ", text("release.yml"))
    lines = (ROOT / "islands" / "__init__.py").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith(f"{pattern} = ") for line in lines) == 1
