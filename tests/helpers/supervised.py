"""A fake machine for launch/supervise, whose mpirun ends as planned."""

from __future__ import annotations

import subprocess

from fake_machine import Machine

# It records its call and ends as in the next line of `plan`: STATUS [FILE TO WRITE]...
MPIRUN = """#!/bin/sh
printf '<%s>' "$@" >>launches
echo >>launches
read -r status files <plan
sed 1d plan >rest
cat rest >plan
for file in $files; do
    mkdir -p "${file%/*}"
    echo >"$file"
done
exit "$status"
"""


class Supervised(Machine):
    """A machine whose mpirun ends as planned; scripts run in `folder`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.add("mpirun", MPIRUN)
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
        return [[*each[:2], *each[5:]] for each in words]
