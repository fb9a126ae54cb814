"""Sanitizers: how a run is started under one, and what it reports."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from islands.backends.cpu import compiler
from islands.errors import UsageError

GPU_TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
CPU_TOOLS = ("address", "thread", "undefined")
_HELPERS = Path(__file__).parent
_THREADS = "4"  # of the CPU: several, so that there may be races
_PROGRAM = "compute-sanitizer"
_OWN_LINES = ("COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "Target application")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}|\[\d+ hazards\]|\(\d+,\d+,\d+\)")
_OF_CPU = re.compile(r"^SUMMARY: \w+Sanitizer: .*|^.*: runtime error: .*", re.MULTILINE)
# A `Scratch` without memory counts from a null pointer: undefined for clang, but not for GCC.
_ONLY_CLANG = {"undefined": ["-fno-sanitize=pointer-overflow"]}
_LIBRARIES = {"address": "libasan.so", "thread": "libtsan.so"}
"""What a process must load first."""


@dataclass(frozen=True)
class Tool:
    """One sanitizer, and how it runs `islands`."""

    name: str
    before: list[str]
    """What comes before Python in a command."""
    program: list[str]
    place: list[str]
    usual_jobs: int
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> Self:
        """Return a tool by name; reject one that this machine lacks."""
        if name in CPU_TOOLS:
            place = ["--backend", "cpu", "--threads", _THREADS]
            return cls(name, [], ["-m", "islands"], place, 1, environment_of(name))
        found = shutil.which(_PROGRAM) or shutil.which(_PROGRAM, path="/usr/local/cuda/bin")
        if found is None:
            raise UsageError(
                f"{name}: {_PROGRAM} is not on the PATH. Install NVIDIA's CUDA toolkit, or choose"
                f" from {', '.join(CPU_TOOLS)}"
            )
        before = [found, "--tool", name, "--show-backtrace", "no", "--print-limit", "1000"]
        program = [str(_HELPERS / "sanitized_gpu.py")]
        return cls(name, before, program, ["--backend", "cuda", "--share-gpu"], 8)

    def outcome(self, arguments: Sequence[str], longest: float) -> tuple[Counter[str], str]:
        """Return what a run of Python with these arguments reports, and how often.

        The second is why it failed, if it did so without a report; `longest` is a time in seconds.
        """
        try:
            found, failure = self._outcome(arguments, longest)
            if found and self.name in CPU_TOOLS:
                # A program that has just been compiled was moved, so its lines were unknown.
                found, failure = self._outcome(arguments, longest)
        except subprocess.TimeoutExpired:
            return Counter(), f"it took more than {longest:g} s"
        return found, failure

    def _outcome(self, arguments: Sequence[str], longest: float) -> tuple[Counter[str], str]:
        done = subprocess.run(
            [*self.before, sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | self.environment,
            timeout=longest,
            cwd=_HELPERS.parents[1],  # to which the places of scripts are relative
        )
        found = Counter(_of_cpu(done.stdout) if self.name in CPU_TOOLS else _of_gpu(done.stdout))
        return found, "" if found or done.returncode == 0 else done.stdout.strip()[-500:]


def _of_cpu(output: str) -> Iterable[str]:
    return (match[0].strip() for match in _OF_CPU.finditer(output))


def _of_gpu(output: str) -> Iterable[str]:
    lines = [line[9:] for line in output.splitlines() if line.startswith("=" * 9)]
    text = "\n".join(lines)
    for report in re.split(r"^ (?=\S)", text, flags=re.MULTILINE)[1:]:
        if not report.startswith(_OWN_LINES):
            kept = (line.strip() for line in report.splitlines() if "by thread" not in line)
            yield " | ".join(_ADDRESS.sub("...", line) for line in kept if line)


def environment_of(name: str) -> dict[str, str]:
    """Return the environment in which kernels are compiled and run for a sanitizer of the CPU."""
    command, version = compiler()
    words = [*command, f"-fsanitize={name}", f"-fno-sanitize-recover={name}", "-g"]
    words += [] if any(word.startswith("-O") for word in command) else ["-O1"]
    words += _ONLY_CLANG.get(name, []) if "clang" in version else []
    found = {"CXX": shlex.join(words), "OPENBLAS_NUM_THREADS": "1"}
    if name in _LIBRARIES:
        line = [*command, f"-print-file-name={_LIBRARIES[name]}"]
        library = subprocess.run(line, capture_output=True, text=True).stdout.strip()
        if not Path(library).is_absolute():
            raise UsageError(
                f"{name}: {command[0]} has no {_LIBRARIES[name]}. Set CXX to GCC's g++"
            )
        found["LD_PRELOAD"] = library
        found["CXX"] = f"env -u LD_PRELOAD {found['CXX']}"  # compilers may crash with it
    found |= {
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter never frees all its memory
        # Other libraries have atomic operations that the sanitizer does not see.
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
        "UBSAN_OPTIONS": "",
    }
    return found


def few(runs: Iterable[str]) -> list[str]:
    """Return the first of the runs of each kind of kernels."""
    chosen: dict[str, str] = {}
    for run in runs:
        chosen.setdefault(_kind(run), run)
    return list(chosen.values())


def _kind(run: str) -> str:
    words = shlex.split(run)
    if "--algorithm" not in words:
        return "colonies" if "--colony" in words else "preset"
    algorithm, problem = words[words.index("--algorithm") + 1], words[0].partition(":")[0]
    return f"{algorithm} of {problem}" if algorithm == "tempering" else algorithm
