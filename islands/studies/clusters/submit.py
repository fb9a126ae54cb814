"""The job of `islands submit`: its script is written, checked by sbatch and submitted.

The script is a batch script of the folder slurm/ with the options of sbatch and of the run filled
in. The options of sbatch come from the command line, and from site.env, which the batch scripts
source too.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Self

from platformdirs import user_config_path

from islands.custom.signature import signed
from islands.errors import InputError, UsageError
from islands.inside import inside
from islands.paths import data_folder, publish, reading
from islands.record.folder import JOB
from islands.studies.clusters.commands import reason, sbatch, without_options
from islands.studies.clusters.jobs import SCRIPT, Job
from islands.studies.clusters.sweep import LIST, begin_array
from islands.studies.described import described
from islands.text import seconds, show
from islands.untrusted import bounded_text

SITE = "site.env"
_TIME_LIMIT = re.compile(r"(\d+-)?\d+(:\d\d){1,2}|\d+-\d+")
"""The forms of a time limit that sbatch accepts."""
_NOTICE_SECONDS = 120
"""The time before its limit at which a job writes a checkpoint."""
_SIGNAL = re.compile(r"R?B:(SIG)?(USR1|10)(@\d+)?", re.IGNORECASE)
_GPUS = re.compile(r"(?:(?P<type>[A-Za-z][\w.-]*)(?::(?=\d)|$))?(?P<number>\d+)?")
_SBATCH = described(Path(__file__).with_name("sbatch.toml"))
"""The names of options of sbatch, from `sbatch.toml`."""
_DIRECTIVE = "#SBATCH --"
_SUBMITS_ITSELF = 'if [ -z "${SLURM_JOB_ID:-}" ]; then'
_PLAIN = re.compile(r"[\w@%+=:,./\[\]*&|-]+")
"""Values that need no quotes."""
_UNFIT = ("Cc", "Cs")
"""Unicode's categories of control characters, and of bytes that are not UTF-8."""
_NO_CLUSTER = ("configuration source", "slurm.conf", "Unable to contact")
"""Parts of the messages of an sbatch that reaches no cluster."""


def time_limit(text: str) -> str:
    """Return a time limit in the format of sbatch: 01:00:00 for `1h`."""
    if _TIME_LIMIT.fullmatch(text):
        return text
    limit = 0.0
    with suppress(ValueError):
        limit = seconds(text) if text[-1:].isalpha() else 0.0
    if limit < 1:
        raise ValueError("must be a time such as 90s, 30m, 1h, 12:00:00 or 1-12:00:00")
    whole = round(limit)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def seconds_of(limit: str) -> int | None:
    """Return the seconds of a time limit of sbatch; None if it is of another form or unlimited."""
    if not (_TIME_LIMIT.fullmatch(limit) or limit.isdecimal()):
        return None
    days, dash, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if not dash and len(parts) < 3:
        parts = [0, *parts]  # minutes, or minutes and seconds
    hours, minutes, rest = (*parts, 0, 0)[:3]
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest


def signal_before(limit: str) -> str | None:
    """Return the value of sbatch --signal for a time limit, or None if the limit is unknown.

    The batch script receives SIGUSR1 two minutes before a long limit, and after three quarters of
    a short one.
    """
    limit_seconds = seconds_of(limit)
    if limit_seconds is None:
        return None
    return f"B:USR1@{max(1, min(_NOTICE_SECONDS, limit_seconds // 4))}"


@dataclass(frozen=True)
class Gpus:
    """A number of GPUs, of one type or of any."""

    number: int
    type: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the GPUs of `4`, `a100:4` or `a100`, which is one."""
        match = _GPUS.fullmatch(text)
        if match is None or not text:
            raise ValueError("must be a number of GPUs with an optional type, such as 4 or a100:4")
        return cls(int(match["number"] or 1), match["type"] or "")

    def __str__(self) -> str:
        return f"{self.type}:{self.number}" if self.type else str(self.number)


def take_gpus(directives: dict[str, str], nodes: int) -> Gpus | None:
    """Remove all requests for GPUs from the options of sbatch; return the GPUs of each node.

    Slurm has several such options, which would contradict each other.
    """
    of_node = directives.pop("gpus-per-node", None)
    of_task = directives.pop("gpus-per-task", None)
    total = directives.pop("gpus", None)
    of_gres = _take_gres(directives)
    if text := of_node or of_gres or of_task:
        return Gpus.parse(text)
    if total is None:
        return None
    gpus = Gpus.parse(total)
    if gpus.number % nodes:
        raise ValueError(f"must be a multiple of the number of nodes, {nodes}")
    return Gpus(gpus.number // nodes, gpus.type)


def _take_gres(directives: dict[str, str]) -> str | None:
    """Remove the GPUs from --gres, such as `gpu:a100:4`; return their type and number."""
    resources = [gres for gres in directives.pop("gres", "").split(",") if gres]
    others = [gres for gres in resources if gres.split(":")[0] not in ("gpu", "gres/gpu")]
    if others:
        directives["gres"] = ",".join(others)
    gpus = [gres for gres in resources if gres not in others]
    return gpus[0].partition(":")[2] or "1" if gpus else None


def find_site(named: Path | None) -> Path:
    """Return the path of the site.env to source, a file that the user has chosen.

    It is `named`, or that of ISLANDS_SITE, of the user's configuration folder, or the one next to
    the batch scripts; never one in the current folder, which somebody else may have written.
    """
    template, user_site = data_folder("slurm") / SITE, user_config_path("islands") / SITE
    variable = os.environ.get("ISLANDS_SITE")
    chosen = named or (Path(variable) if variable else None)
    if chosen is not None and not chosen.is_file():
        words = f"--site {named}" if named is not None else f"ISLANDS_SITE={variable}"
        raise InputError(f"{words}: no such file. Copy and edit {template}")
    site = (chosen or (user_site if user_site.is_file() else template)).resolve()
    for other in (Path(SITE), Path("slurm", SITE)):
        if other.is_file() and not other.samefile(site):
            show(
                f"islands: {other} is not used: others may have put it here. If it is yours, add"
                f" --site {other}, or move it to {user_site}",
                file=sys.stderr,
            )
    return site


def directives_of(site: Path) -> dict[str, str]:
    """Return the options of sbatch that a site sets through SBATCH_ variables."""
    with reading(site):
        is_of_windows = site.is_file() and b"\r" in site.read_bytes()
    if is_of_windows:
        raise InputError(
            f"{site}: has the line ends of Windows, which bash takes for text. Convert it with:"
            f" sed -i 's/\\r$//' {shlex.quote(str(site))}"
        )
    command = 'set -a; . "$1" >/dev/null || exit; exec env -0'
    done = subprocess.run(
        ["bash", "-c", command, "bash", str(site)],
        env=without_options(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise InputError(
            f"{site}: bash cannot source it: {done.stderr.strip() or done.returncode}. Correct it"
        )
    directives, known = dict[str, str](), _SBATCH["of_site"]
    others, flags = known["others"], known["without_value"]
    for variable in done.stdout.split("\0"):
        name, _, value = variable.removeprefix("SBATCH_").partition("=")
        if variable.startswith("SBATCH_") and name in (*known["same"], *others, *flags):
            option = others.get(name) or name.lower().replace("_", "-")
            directives[option] = "" if name in flags else value
    return directives


def directives_from(
    args: argparse.Namespace, of_site: Mapping[str, str], *, on_cpu: bool
) -> dict[str, str]:
    """Return the options of sbatch: the site's options, overridden by the command line."""
    directives = dict(of_site)
    try:
        gpus = take_gpus(directives, args.nodes)
    except ValueError as error:
        raise UsageError(f"site.env: its request for GPUs {error}. Correct it") from error
    if on_cpu:
        if args.gpus_per_node is not None and args.gpus_per_node.number:
            raise UsageError(
                f"--gpus-per-node {args.gpus_per_node} with --backend cpu: the run would not use"
                " them. Leave one of them out"
            )
        ranks = args.ranks_per_node or 1
    else:
        gpus = _requested(args, gpus)
        ranks = gpus.number
        directives["gpus-per-node"] = str(gpus)
    directives |= {"nodes": str(args.nodes), "ntasks-per-node": str(ranks)}
    if args.time:
        directives["time"] = args.time
    for name in _SBATCH["same_names"]:
        if getattr(args, name) is not None:
            directives[name.replace("_", "-")] = str(getattr(args, name))
    directives |= dict(map(_of_sbatch, args.sbatch))
    if not _SIGNAL.fullmatch(directives.get("signal", "B:USR1")):
        raise UsageError(
            f"signal={directives['signal']}: the batch script must receive SIGUSR1, which it passes"
            " on to the ranks. Write signal=B:USR1@SECONDS"
        )
    if "time" in directives and (signal := signal_before(directives["time"])) is not None:
        directives.setdefault("signal", signal)
    return {"chdir": str(Path.cwd())} | directives


def _requested(args: argparse.Namespace, of_site: Gpus | None) -> Gpus:
    """Return the GPUs of each node; if the command line names no type, it is the site's."""
    if args.ranks_per_node:
        raise UsageError(
            f"--ranks-per-node {args.ranks_per_node}: each rank uses one GPU. Write"
            " --gpus-per-node, or add --backend cpu"
        )
    gpus: Gpus = args.gpus_per_node or of_site or Gpus(1)
    if gpus.number == 0:
        raise UsageError("0 GPUs per node: add --backend cpu, or request at least one")
    if not gpus.type and of_site is not None:
        return Gpus(gpus.number, of_site.type)
    return gpus


def _of_sbatch(text: str) -> tuple[str, str]:
    """Return name and value of `--sbatch NAME=VALUE`; reject names that have their own option."""
    name, equals, value = text.strip().removeprefix("--").partition("=")
    written = f"--sbatch {text}"
    if not name or (equals and not value) or any(letter.isspace() for letter in name):
        raise UsageError(f"{written!r}: write NAME or NAME=VALUE, such as nodelist=n1")
    if len(name.lstrip("-")) == 1:
        raise UsageError(f"{written}: write the long name, such as nodelist=n1")
    if instead := _SBATCH["reserved"].get(name):
        raise UsageError(f"{written}: islands submit sets this option. Use {instead}")
    if name == "gres" and any(gres.startswith("gpu") for gres in value.split(",")):
        raise UsageError(f"{written}: use --gpus-per-node [TYPE:]G for GPUs")
    return name, value


def script(
    template: str, directives: Mapping[str, str], words: Sequence[str], site: Path, folder: Path
) -> str:
    """Return the script that runs `template` with these directives of sbatch and these options.

    Reject values that do not fit on one line.
    """
    require_fit("--out", str(folder))
    require_fit("--site", str(site))
    require_fit("the path of Python", sys.executable)
    for word in words:
        require_fit("the option", word)
    lines = (data_folder("slurm") / f"{template}.sbatch").read_text().splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith(_DIRECTIVE)]
    defaults = (lines[place].removeprefix(_DIRECTIVE).partition("=") for place in places)
    merged = {name: value for name, _, value in defaults} | dict(directives)
    if "no-requeue" in directives:
        del merged["requeue"]
    begin = lines.index(_SUBMITS_ITSELF)
    end = lines.index("fi", begin)
    return "\n".join(
        [
            "#!/bin/bash",
            "# Written by `islands submit`. Submit it again with:",
            f"#   sbatch {shlex.quote(str(folder / JOB / SCRIPT))}",
            *(_line(name, value) for name, value in merged.items()),
            "",
            f"export ISLANDS_SITE={shlex.quote(str(site))}",
            f'[ -n "${{PYTHON:-}}" ] || PYTHON={shlex.quote(sys.executable)}',
            "export PYTHON",
            f"set -- {shlex.join(words)}",
            *lines[places[-1] + 1 : begin],
            _SUBMITS_ITSELF,
            '    echo "this script runs inside a job: sbatch $0" >&2',
            "    exit 2",
            *lines[end:],
            "",
        ]
    )


def require_fit(name: str, value: str) -> None:
    """Reject a value with a line break: a shell would execute the rest as a command."""
    if any(unicodedata.category(letter) in _UNFIT for letter in value):
        raise UsageError(
            f"{name} {value!r}: contains a line break or another control character, or is not"
            " UTF-8. The script of a job cannot contain it: choose another name or value"
        )


def _line(name: str, value: str) -> str:
    require_fit("the working directory" if name == "chdir" else f"--{name}", value)
    if not value:
        return f"{_DIRECTIVE}{name}"
    if _PLAIN.fullmatch(value):
        return f"{_DIRECTIVE}{name}={value}"
    # sbatch reads quotes, backslashes and # as a shell does, but expands nothing.
    escaped = re.sub(r'(["\\])', r"\\\1", value)
    return f'{_DIRECTIVE}{name}="{escaped}"'


def require_accepted(script: str) -> None:
    """Reject a script that `sbatch --test-only` rejects, with its message."""
    if which("sbatch") is None:
        return
    tested = sbatch(["--test-only"], script)
    if any(words in tested.stderr for words in _NO_CLUSTER):
        show(f"islands: not checked by sbatch: {reason(tested.stderr)}", file=sys.stderr)
    elif tested.returncode != 0:
        raise UsageError(
            f"Slurm rejects the job: {reason(tested.stderr)}. Change the options of islands"
            " submit, or site.env"
        )


def submit_job(script: str, folder: Path, lines: Sequence[str] | None) -> Job:
    """Write the script into the folder, submit it, and store the number of the job.

    If Slurm rejects the job, the folder remains unchanged. `lines` are the options of each element
    of a job array, or None for a single job.
    """
    if which("sbatch") is None:
        raise UsageError(
            "this machine has no sbatch: submit jobs on a login node of the cluster. --dry-run"
            " prints the script anywhere"
        )
    path, options = inside(folder, JOB, SCRIPT), inside(folder, JOB, LIST)
    submitted = time.time()
    with _restored_on_error(path, options):
        publish(path, script)
        if lines is not None:
            text = "".join(f"{line}\n" for line in lines)
            # The user has named the scripts of these runs.
            publish(options, signed(text) if ".py" in text or "--trust" in text else text)
        done = sbatch(["--parsable", str(path)])
        if done.returncode != 0:
            raise InputError(
                f"Slurm rejects the job: {reason(done.stderr)}. Change the options of islands"
                " submit, or site.env"
            )
    number = done.stdout.strip().partition(";")[0]
    elements, array = None, None
    if lines is not None:
        elements, array = len(lines), begin_array(folder, number, [str(options)])
    collecting = None if array is None else array.collecting
    job = Job(number, str(folder), str(path), submitted, elements, collecting)
    job.write()
    return job


@contextmanager
def _restored_on_error(*paths: Path) -> Iterator[None]:
    """Restore the files of an earlier job if the block fails; remove new files and folders."""
    earlier = {path: bounded_text(path) if path.exists() else None for path in paths}
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for path, text in earlier.items():
                if text is None:
                    path.unlink(missing_ok=True)
                else:
                    publish(path, text)
            for place in (paths[0].parent, paths[0].parent.parent):
                place.rmdir()  # fails if other files are in it
        raise
