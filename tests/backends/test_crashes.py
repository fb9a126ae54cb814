"""A crash of a user's code says where it was, and what to do, before the process ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import sys
import islands

cost = "__device__ long long cost(const Solution& s, int n, const Data& data) {{ {body} }}"
own = islands.permutation(9, cost=cost)
islands.solve(own, algorithm="ga", generations=3, backend="cpu", threads={threads})
"""
_RECURSION = """
struct Deep {{
    __device__ static int f(int k) {{
        volatile char own[4096];
        own[k % 4096] = 1;
        return f(k + 1) + own[0];
    }}
}};
return Deep::f(s[0]);
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("const int* none = nullptr; return none[s[0]];", "SIGSEGV"),
        ("volatile int zero = 0; return 7 / (s[0] * zero);", "SIG"),
        (_RECURSION.replace("{{", "{").replace("}}", "}").replace("\n", " "), "SIGSEGV"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_messages_name_the_code(tmp_path: Path, body: str, name: str, threads: int) -> None:
    script = tmp_path / "crash.py"
    script.write_text(_SCRIPT.format(body=body, threads=threads))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode < 0  # the signal, as without the message
    assert done.stderr.count("islands: the process received") == 1
    assert f"received {name}" in done.stderr
    assert "in cost.cu. Find the line with: islands check FILE.py:NAME" in done.stderr
