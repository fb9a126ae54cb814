"""The fixture with the two hosts of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from two_hosts import CannotMakeHostsError, TwoHosts


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    try:
        with TwoHosts(tmp_path_factory.mktemp("hosts")) as both:
            yield both
    except CannotMakeHostsError as error:
        pytest.skip(f"this machine cannot simulate two hosts: {error}")
