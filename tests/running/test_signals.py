from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from islands.run.signals import STATUS, Interruption


def wait_for(interruption: Interruption) -> bool:
    for _ in range(500):
        if interruption.requested:
            return True
        time.sleep(0.01)
    return False


def test_the_first_signal_asks_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGINT)
        assert wait_for(interruption)
    assert signal.getsignal(signal.SIGINT) is before
    assert "interrupted; writing the best so far" in capfd.readouterr().err


def test_afterwards_signals_have_their_meaning_again() -> None:
    with Interruption():
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_outside_the_main_thread_nothing_changes() -> None:
    seen = []

    def use() -> None:
        with Interruption() as interruption:
            seen.append((interruption.requested, signal.getsignal(signal.SIGINT)))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == [(False, before)]


def test_the_second_signal_ends_at_once_even_inside_a_kernel() -> None:
    # A call of C that takes a minute stands for a kernel: Python's handlers cannot run in it.
    code = (
        "import ctypes\n"
        "from islands.run.signals import Interruption\n"
        "nap = ctypes.CDLL(None).usleep\n"
        "with Interruption():\n"
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
        assert process.wait(timeout=30) == STATUS
        assert time.monotonic() - began < 20
