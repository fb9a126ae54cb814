from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from islands.run.signals import INTERRUPT, INTERRUPTED_STATUS, Interruption, suspension


def wait_for(interruption: Interruption, requested: int = INTERRUPT) -> bool:
    for _ in range(500):
        if interruption.requested == requested:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("suspends", "said"),
    [("writing a checkpoint", "writing the best so far"), ("", "ending after this generation")],
)
def test_the_first_signal_asks_and_says_so(
    suspends: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption(suspends=suspends) as interruption:
        interruption.hear_interrupts()
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGINT)
        assert wait_for(interruption)
    assert signal.getsignal(signal.SIGINT) is before
    assert f"interrupted; {said} (once more to end at once)" in capfd.readouterr().err


def test_until_there_is_something_to_write_sigint_keeps_its_meaning() -> None:
    with Interruption(suspends="writing a checkpoint"), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_run_that_starts_again_may_ask_to_hear_what_it_hears() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        for _ in range(2):
            interruption.hear_interrupts()
        signal.raise_signal(signal.SIGINT)
        assert wait_for(interruption)
    assert signal.getsignal(signal.SIGINT) is before


def test_afterwards_signals_have_their_meaning_again() -> None:
    with Interruption() as interruption:
        interruption.hear_interrupts()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_one_inside_another_hands_on_what_it_has_heard() -> None:
    with Interruption(suspends="ending the series") as outer:
        with Interruption() as inner:
            inner.hear_interrupts()
            signal.raise_signal(signal.SIGINT)
            assert wait_for(inner)
            assert not outer.requested
        assert outer.requested == INTERRUPT
        with Interruption():
            pass
        assert outer.requested == INTERRUPT
        signal.raise_signal(signal.SIGTERM)
        assert wait_for(outer, INTERRUPT + 2)


def test_one_inside_another_hears_what_the_other_has_heard_and_listens_for(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Interruption(suspends="ending all", interrupts="ending it") as outer:
        signal.raise_signal(signal.SIGUSR1)
        assert wait_for(outer, 4)
        with Interruption() as inner:
            assert inner.requested == 4
            signal.raise_signal(signal.SIGTERM)
            assert wait_for(inner, 6)
            signal.raise_signal(signal.SIGINT)
            assert wait_for(inner, 7)
    said = capfd.readouterr().err
    assert "SIGTERM; ending all\n" in said
    assert "interrupted; ending it (" in said


def test_outside_the_main_thread_nothing_changes() -> None:
    seen = []

    def use() -> None:
        with Interruption(suspends="writing a checkpoint") as interruption:
            interruption.hear_interrupts()
            seen.append((interruption.requested, signal.getsignal(signal.SIGINT)))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == [(0, before)]


def test_the_second_signal_ends_at_once_even_inside_a_kernel() -> None:
    # A call of C that takes a minute stands for a kernel: Python's handlers cannot run in it.
    code = (
        "import ctypes\n"
        "from islands.run.signals import Interruption\n"
        "nap = ctypes.CDLL(None).usleep\n"
        "with Interruption() as interruption:\n"
        "    interruption.hear_interrupts()\n"
        "    print('ready', flush=True)\n"
        "    for _ in range(60):\n"
        "        nap(999_999)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        began = time.monotonic()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert process.wait(timeout=30) == INTERRUPTED_STATUS
        assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGUSR1, "SIGUSR1")]
)
def test_a_signal_asks_for_a_checkpoint_however_often_it_comes(
    number: signal.Signals, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    with Interruption(suspends="writing a checkpoint") as interruption:
        interruption.hear_interrupts()
        for _ in range(3):
            os.kill(os.getpid(), number)
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)
        assert wait_for(interruption, interruption.requested | INTERRUPT)
        assert suspension(interruption.requested) == name
    assert signal.getsignal(number) is before
    assert capfd.readouterr().err.count(f"islands: {name}; writing a checkpoint\n") == 1


def test_a_signal_is_heard_also_where_nobody_reads_what_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=broken))
    with Interruption(suspends="writing a checkpoint") as interruption:
        signal.raise_signal(signal.SIGTERM)
        assert wait_for(interruption, 2)
        signal.raise_signal(signal.SIGUSR1)
        assert wait_for(interruption, 6)


def test_the_signals_of_an_event_loop_come_to_it() -> None:
    async def used() -> list[int]:
        heard = list[int]()
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, heard.append, 1)
        with Interruption(), Interruption():
            signal.raise_signal(signal.SIGUSR1)
        for _ in range(500):
            if heard:
                break
            await asyncio.sleep(0.01)
        return heard

    assert asyncio.run(used()) == [1]


def test_a_run_without_checkpoints_leaves_signals_that_ask_for_one_alone() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGUSR1)]
    with Interruption() as interruption:
        interruption.hear_interrupts()
        assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGUSR1)] == before


def test_no_signal_suspends_nothing() -> None:
    assert suspension(0) is None
    assert suspension(INTERRUPT) is None
