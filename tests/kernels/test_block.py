"""Pairs, sums, minima and scans of the threads of a block against NumPy."""

import numpy as np
import pytest
from programs_for_tests import Launcher, random

SIZES = [1, 2, 31, 32, 33, 257, 1000, 4097]


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12, 13, 33, 34, 100, 257])
def test_each_pair_is_visited_once(launchers: list[Launcher], n: int) -> None:
    for launch in launchers:
        visits = launch.upload(np.zeros((n, n), np.int32))
        launch("check_pairs", np.int32(n), visits, blocks=1)
        assert (launch.download(visits) == np.triu(np.ones((n, n), np.int32), 1)).all()


@pytest.mark.parametrize("n", SIZES)
def test_sum_reaches_every_thread(launchers: list[Launcher], n: int) -> None:
    value = random(7, n)
    for launch in launchers:
        out = launch.upload(np.zeros((7, launch.threads, 2), np.int64))
        launch("check_sum", np.int32(n), launch.upload(value), out, blocks=7)
        total = value.sum(axis=1)
        assert (launch.download(out)[:, :, 0] == total[:, None]).all()
        assert (launch.download(out)[:, :, 1] == 2 * total[:, None]).all()


@pytest.mark.parametrize("items", [1, 2, 3, 8, 31, 32, 33, 1000])
def test_groups_share_a_warp(launchers: list[Launcher], items: int) -> None:
    for launch in launchers:
        out = launch.upload(np.zeros((launch.threads, 6), np.int64))
        launch("check_groups", np.int32(items), out, blocks=1)
        found, thread = launch.download(out), np.arange(launch.threads)
        threads = 1 if launch.threads == 1 else 1 << (min(items, 32).bit_length() - 1)
        count = launch.threads // threads
        assert (found[:, 0] == count).all()
        assert (found[:, 1] == thread // threads).all()
        assert (found[:, 2] == threads).all()
        assert (found[:, 3] == thread % threads).all()
        for column, terms in ((4, thread - 7), (5, (1 << 40) * (thread % 5))):
            sums = terms.reshape(count, threads).sum(axis=1)
            assert (found[:, column] == np.repeat(sums, threads)).all()


@pytest.mark.parametrize("n", SIZES)
def test_argmin_returns_the_first_minimum(launchers: list[Launcher], n: int) -> None:
    value = random(9, n, low=0, high=4)
    for launch in launchers:
        out = launch.upload(np.zeros((9, 2), np.int64))
        launch("check_argmin", np.int32(n), launch.upload(value), out, blocks=9)
        assert launch.download(out)[:, 0].tolist() == value.min(axis=1).tolist()
        assert launch.download(out)[:, 1].tolist() == value.argmin(axis=1).tolist()


@pytest.mark.parametrize("n", SIZES)
def test_scan_sums_all_entries_before(launchers: list[Launcher], n: int) -> None:
    value = random(4, n, low=0, high=1000).astype(np.uint32)
    for launch in launchers:
        array = launch.upload(value)
        launch("check_scan", np.int32(n), array, blocks=4)
        assert (launch.download(array) == np.cumsum(value, axis=1) - value).all()
