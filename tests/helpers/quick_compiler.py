"""A C++ compiler that takes little time: most programs of the tests run only for a moment.

`tests/backends/test_compiler.py` compares results with those of the usual level.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from islands.backends import cpu
from islands.paths import cache_folder, data_folder

_LEVEL = "-Og"  # a fifth to a third of the usual time to compile
_SYSTEM = re.compile(r"^# *(?:include *<|undef ).*\n", re.MULTILINE)


def quick_compiler(command: str) -> str:
    """Return a value of `CXX` for a compiler; GCC gets system headers that are compiled once.

    GCC ignores them for most other options, and then compiles the text instead.
    """
    found = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    line = [command, _LEVEL]
    if "Free Software Foundation" in found:
        if shutil.which("ld.gold"):
            line.append("-fuse-ld=gold")  # in half of the time
        line += ["-include", str(_compiled_headers(command, found))]
    return shlex.join(line)


def in_scripts() -> str:
    """Return the C++ compiler of these tests for a script, which may get any options.

    It has no compiled headers: GCC crashes if options name another level of optimisation.
    """
    words = shlex.split(os.environ.get("CXX", "c++"))
    at = words.index("-include") if "-include" in words else len(words)
    return shlex.join(words[:at])


def for_long_runs() -> str:
    """Return the C++ compiler for scripts whose runs take longer than compilation."""
    return in_scripts().replace(_LEVEL, "-O1")


def _compiled_headers(command: str, version: str) -> Path:
    """Return a file with the system headers of all programs, and compile it if no test has."""
    core = data_folder("kernels") / "core"
    texts = [(core / name).read_text(encoding="utf-8") for name in ("host.hpp", "functions.hpp")]
    text = "".join(line for each in texts for line in _SYSTEM.findall(each))
    options = [_LEVEL, *(word for word in cpu._OPTIONS if word not in ("-x", "c++"))]
    key = "\0".join([version, cpu._processor(), text, *options])
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    folder = cache_folder("headers-of-tests")
    header, compiled = folder / f"{name}.hpp", folder / f"{name}.hpp.gch"
    if not compiled.exists():
        with TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / header.name
            made.write_text(text, encoding="utf-8")
            line = [command, *options, "-x", "c++-header", str(made), "-o", f"{made}.gch"]
            done = subprocess.run(line, capture_output=True)
            made.replace(header)
            if done.returncode == 0:
                Path(f"{made}.gch").replace(compiled)
    return header
