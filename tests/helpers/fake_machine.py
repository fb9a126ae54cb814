"""A fake machine for the scripts: a PATH with a few real tools and fake programs."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from jobs import ran

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    "launch/bind",
    "launch/environment",
    "launch/job",
    "launch/quickstart",
    "launch/supervise",
    "tests/run",
    ".ci/run",
    "pyproject.toml",
]
TOOLS = ["sh", "dirname", "date", "cksum", "awk", "tail", "grep", "rm", "tr", "mkdir", "cp"]
TOOLS += ["cat", "mktemp", "paste", "sed", "sleep", "sort", "true", "uniq"]

_FAKE = ROOT / "tests" / "launch" / "fake"
"""The fake programs; each says what it does."""


@dataclass
class Machine:
    """A machine with a checkout; its programs are the files in `bin`."""

    folder: Path

    def __post_init__(self) -> None:
        self.checkout = self.folder / "a checkout"
        self.bin = self.folder / "bin"
        self.bin.mkdir(parents=True)
        for name in FILES:
            target = self.checkout / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        for tool in TOOLS:
            self.link(tool)
        self.add("c++", "#!/bin/sh\n")
        self.add("clang-format", "#!/bin/sh\n")
        for name in ("python3", "mpirun"):
            self.copy(name, name)

    def link(self, tool: str) -> None:
        """Add a tool of the real machine."""
        path = shutil.which(tool)
        (self.bin / tool).symlink_to(path)

    def add(self, name: str, text: str) -> None:
        program = self.bin / name
        program.write_text(text)
        program.chmod(0o755)

    def copy(self, fake: str, name: str) -> None:
        self.add(name, (_FAKE / fake).read_text())

    def add_driver(self, words: str) -> None:
        self.add("nvidia-smi", f"#!/bin/sh\necho '{words}'\n")

    def run(
        self, script: str, *arguments: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin), "CALLS": str(self.folder / "calls"), "GPUS": "0"}
        program = self.checkout / script
        return ran(program, *arguments, env=environment | variables, cwd=self.folder)

    def calls(self, start: str) -> list[str]:
        calls = self.folder / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [line for line in lines if line.startswith(start)]


class Supervised(Machine):
    """A machine whose mpirun ends as planned; scripts run in `folder`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.copy("planned-mpirun", "mpirun")
        for tool in ("find", "uname"):
            self.link(tool)

    def supervise(
        self, *arguments: str, plan: list[str], **variables: str
    ) -> subprocess.CompletedProcess[str]:
        (self.folder / "plan").write_text("".join(f"{line}\n" for line in plan))
        return self.run("launch/supervise", *arguments, **variables)

    def launches(self) -> list[list[str]]:
        """Return the arguments of each mpirun without the name of the Python."""
        lines = (self.folder / "launches").read_text().splitlines()
        words = [line.removeprefix("<").removesuffix(">").split("><") for line in lines]
        return [[*each[:2], *each[6:]] for each in words]
