"""Compile kernels for NVIDIA GPUs, with NVRTC, which needs no GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from islands.backends.cache import loaded
from islands.backends.gpus import load_cupy
from islands.backends.refused import refused
from islands.backends.source import Source

# Contraction would round a * b + c once where the CPU rounds twice.
OPTIONS = ["--std=c++17", "--fmad=false", "--ftz=false"]
_KEPT = 'extern "C" __device__'  # kept because it can be looked up by name


def compiled(
    source: Source,
    architecture: str,
    load: Callable[[Path], Any],
    begins: Callable[[], None] = lambda: None,
) -> tuple[Any, str]:
    """Return the program that `load` makes of machine code, such as for `sm_90`, and its digest.

    `begins` is called before a program that is not in the cache is compiled.
    """
    nvrtc = load_cupy().cuda.nvrtc
    options = [*OPTIONS, f"-arch={architecture}"]
    digest = source.digest("nvrtc", str(nvrtc.getVersion()), *options)

    def make(path: Path) -> None:
        begins()
        own = source.own()
        names, texts = ([each.encode() for each in side] for side in (own, own.values()))
        program = nvrtc.createProgram(source.text(digest, _KEPT), "program.cu", texts, names)
        try:
            nvrtc.compileProgram(program, (*options, *source.options()))
            path.write_bytes(nvrtc.getCUBIN(program))
        except nvrtc.NVRTCError:
            raise refused("NVRTC", digest, nvrtc.getProgramLog(program), own) from None
        finally:
            nvrtc.destroyProgram(program)

    return loaded(digest, ".cubin", make, load), digest
