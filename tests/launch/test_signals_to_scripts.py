"""The scripts at a signal: the job writes its checkpoint; a second one ends it at once."""

import fcntl
import os
import signal
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from fake_machine import Supervised
from jobs import wait_until

# It waits for signals, like a job that writes a checkpoint at a signal.
PATIENT = """#!/bin/sh
trap 'echo USR1 >>heard; exit 75' USR1
trap 'echo INT >>heard' INT
echo >started
while :; do sleep 0.05; done
"""
STUBBORN = """#!/bin/sh
trap 'echo USR1 >>heard' USR1
trap 'echo TERM >>heard; exit 1' TERM
echo >started
while :; do sleep 0.05; done
"""

SCRIPTS = ["supervise 2 --out r", "quickstart --no-install"]


@pytest.fixture
def machine(tmp_path: Path) -> Supervised:
    return Supervised(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_lets_the_job_write_its_checkpoint(
    machine: Supervised, sent: signal.Signals, script: str
) -> None:
    machine.add("mpirun", PATIENT)
    running = start(machine, script)
    running.send_signal(sent)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 75
    assert (machine.folder / "heard").read_text() == "USR1\n"
    assert "died" not in said


CHECK = '    [ -z "$stopping" ] || return 0\n'
START = '    "$@" </dev/null &\n'
PAUSE = "    echo >pausing; sleep 1\n"


def replace_in_job(machine: Supervised, line: str, by: str) -> None:
    job = machine.checkout / "launch/job"
    text = job.read_text()
    assert text.count(line) == 1
    job.write_text(text.replace(line, by))


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("by", "until"),
    [(PAUSE + START, "pausing"), (START + PAUSE, "started")],
    ids=["before", "after"],
)
def test_a_signal_around_the_start_of_the_job_reaches_it(
    machine: Supervised, by: str, until: str, script: str
) -> None:
    machine.add("mpirun", PATIENT)
    replace_in_job(machine, START, by)
    running = start(machine, script, until)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 75
    assert (machine.folder / "heard").read_text() == "USR1\n"


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_job_starts_after_a_signal(machine: Supervised, script: str) -> None:
    machine.add("mpirun", PATIENT)
    replace_in_job(machine, CHECK, PAUSE + CHECK)
    running = start(machine, script, until="pausing")
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=30)
    assert running.returncode == 75
    assert not (machine.folder / "started").exists()


def test_a_second_signal_ends_the_job_at_once(machine: Supervised) -> None:
    machine.add("mpirun", STUBBORN)
    running = start(machine)
    running.send_signal(signal.SIGTERM)
    heard = machine.folder / "heard"
    wait_until(heard.exists, running)
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=30)
    assert running.returncode == 1
    assert heard.read_text() == "USR1\nTERM\n"


def test_ctrl_c_does_not_reach_the_job(machine: Supervised) -> None:
    """An mpirun that receives it would kill the ranks while they write."""
    machine.add("mpirun", PATIENT)
    terminal, end = os.openpty()
    running = start(machine, stdin=end, start_new_session=True, preexec_fn=take_terminal)
    os.write(terminal, b"\x03")
    assert running.wait(timeout=30) == 75
    assert (machine.folder / "heard").read_text() == "USR1\n"
    os.close(terminal)
    os.close(end)


def take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def start(
    machine: Supervised, script: str = "supervise 2 --out r", until: str = "started", **how: Any
) -> subprocess.Popen[str]:
    """Start a script, and return when there is the file `until`, which the job or script writes."""
    name, *options = script.split()
    running = subprocess.Popen(
        [str(machine.checkout / "launch" / name), *options],
        env={"PATH": str(machine.bin), "CALLS": "calls", "GPUS": "0"},
        cwd=machine.folder,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )
    wait_until((machine.folder / until).exists, running)
    return running
