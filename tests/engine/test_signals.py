import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from jobs import wait_until

from islands.engine.signals import INTERRUPT, INTERRUPTED_STATUS, Interruption, suspension


def wait_for(interruption: Interruption, requested: int = INTERRUPT) -> None:
    wait_until(lambda: interruption.requested == requested)


def test_the_first_signal_requests_a_stop_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption(suspends="writing a checkpoint") as interruption:
        interruption.handle_interrupts()
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGINT)
        wait_for(interruption)
    assert signal.getsignal(signal.SIGINT) is before
    assert "interrupt again to end at once" in capfd.readouterr().err


def test_a_nested_object_passes_its_signals_to_the_outer_one() -> None:
    with Interruption(suspends="ending the series") as outer:
        with Interruption() as inner:
            inner.handle_interrupts()
            signal.raise_signal(signal.SIGINT)
            wait_for(inner)
            assert not outer.requested
        assert outer.requested == INTERRUPT
        with Interruption():
            pass
        assert outer.requested == INTERRUPT
        signal.raise_signal(signal.SIGTERM)
        wait_for(outer, INTERRUPT + 2)


def test_outside_the_main_thread_signals_keep_their_usual_effect() -> None:
    seen = []

    def use() -> None:
        with Interruption(suspends="writing a checkpoint") as interruption:
            interruption.handle_interrupts()
            seen.append((interruption.requested, signal.getsignal(signal.SIGINT)))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == [(0, before)]


@pytest.mark.slow
def test_the_second_interrupt_ends_the_process_even_inside_a_kernel() -> None:
    # A long C call represents a kernel: Python's handlers cannot run in it.
    code = (
        "import ctypes\n"
        "from islands.engine.signals import Interruption\n"
        "nap = ctypes.CDLL(None).usleep\n"
        "with Interruption() as interruption:\n"
        "    interruption.handle_interrupts()\n"
        "    print('ready', flush=True)\n"
        "    for _ in range(60):\n"
        "        nap(999_999)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        began = time.monotonic()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert process.wait(timeout=30) == INTERRUPTED_STATUS
        assert time.monotonic() - began < 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
def test_repeated_signals_request_one_checkpoint(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    with Interruption(suspends="writing a checkpoint") as interruption:
        interruption.handle_interrupts()
        for _ in range(3):
            os.kill(os.getpid(), number)
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)
        wait_for(interruption, interruption.requested | INTERRUPT)
        assert suspension(interruption.requested) == number.name
    assert signal.getsignal(number) is before
    assert capfd.readouterr().err.count(number.name) == 1


def test_a_signal_is_handled_even_if_standard_error_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=broken))
    with Interruption(suspends="writing a checkpoint") as interruption:
        signal.raise_signal(signal.SIGTERM)
        wait_for(interruption, 2)
        signal.raise_signal(signal.SIGUSR1)
        wait_for(interruption, 6)


def test_an_event_loop_receives_its_signals() -> None:
    async def used() -> list[int]:
        received = list[int]()
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, received.append, 1)
        with Interruption(), Interruption():
            signal.raise_signal(signal.SIGUSR1)
        for _ in range(500):
            if received:
                break
            await asyncio.sleep(0.01)
        return received

    assert asyncio.run(used()) == [1]
