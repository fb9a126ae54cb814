"""List, show, fetch or check the instances of benchmark sets."""

import argparse
import sys
from collections.abc import Callable, Mapping

from islands.cli.arguments import NAME, add_format
from islands.custom.scripts import is_reference
from islands.errors import IslandsError, UsageError
from islands.instances.catalogue import Entry, InstanceSet, catalogue
from islands.instances.fetch import digest, fetch
from islands.instances.locate import Index, Located, find
from islands.problems import loaded, read
from islands.problems.base import Problem
from islands.text import counted, escaped, show, unknown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `islands instances`."""
    text = "list, show or check local instances, or fetch (download) a set"
    parser.add_argument("action", metavar="list|show|fetch|check", help=text)
    text = "a set; for show, an instance"
    parser.add_argument("name", nargs="?", metavar="SET|NAME", type=NAME, help=text)
    text = "fetch from this address (http or https) instead of the published one"
    parser.add_argument("--from", dest="base", metavar="URL", help=text)
    add_format(parser)


def main(args: argparse.Namespace) -> int:
    """Run one action and return the exit status."""
    if args.action not in ACTIONS:
        raise UsageError(unknown("action", args.action, ACTIONS))
    for name, value, action in (("from", args.base, "fetch"), ("format", args.format, "show")):
        if value is not None and args.action != action:
            raise UsageError(
                f"--{name} {value}: is only for `islands instances {action}`. Leave it out"
            )
    if args.name is None and args.action in _NEEDS:
        raise UsageError(f"instances {args.action}: specify {_NEEDS[args.action]}")
    return ACTIONS[args.action](args)


def _list(args: argparse.Namespace) -> int:
    index = Index()
    for instances in _sets(args.name):
        entries = instances.entries.values()
        local = sum(index.of_entry(entry) is not None for entry in entries)
        show(
            f"{instances.name}: {instances.title}; {counted(len(entries), 'instance')},"
            f" {local} local"
        )
        for entry in entries:
            known = entry.best_known
            value, status = (str(known.value), known.status) if known else ("-", "-")
            place = "local" if index.of_entry(entry) else "missing"
            show(f"  {entry.full_name:<20} {entry.size:>7} {value:>10}  {status:<10}  {place}")
    if args.name is None and (others := index.others()):
        show("local files that are not in the catalogue:")
        for name, path in others.items():
            show(escaped(f"  {name:<20} {path}", kept=""))
    return 0


def _show(args: argparse.Namespace) -> int:
    if is_reference(args.name):
        scripted = loaded(args.name, args.format)
        _print_rows({"name": scripted.instance} | _facts(scripted))
        return 0
    instance = find(args.name)
    rows = {"name": instance.name}
    problem = None if instance.entry else read(instance, args.format)
    if instance.entry:
        rows |= _published(instance.entry)
    elif problem is not None:
        rows |= _facts(problem)
    rows["local file"] = str(instance.path or _how_to_get(instance.name.partition("/")[0]))
    _print_rows(rows)
    # Show the published data before reading the file, which may be damaged.
    if problem is None and instance.path:
        problem = read(instance, args.format)
    for remark in problem.remarks() if problem is not None else ():
        show(remark.words)
    return 0


def _how_to_get(name: str) -> str:
    instances = catalogue().set(name)
    if instances.is_generated:
        return "generated on demand"
    if instances.base:
        return f"none; download it with `islands instances fetch {name}`"
    return "none; download it from the home page"


def _print_rows(rows: Mapping[str, str]) -> None:
    for key, value in rows.items():
        show(f"{key:<12} {escaped(value, kept='')}")


def _facts(problem: Problem) -> dict[str, str]:
    known = problem.best_known
    rows = {"problem": problem.name, "size": str(problem.entries)}
    if problem.constraints is not None:
        rows["constraints"] = str(problem.constraints)
    return rows | {"best known": f"{known.value} ({known.source})" if known else "-"}


def _published(entry: Entry) -> dict[str, str]:
    instances, known = catalogue().set(entry.set), entry.best_known
    rows = {"set": instances.title, "problem": entry.problem, "size": str(entry.size)}
    if entry.constraints is not None:
        rows["constraints"] = str(entry.constraints)
    if known:
        status = "optimal" if known.status == "optimal" else "not proven optimal"
        rows |= {"best known": f"{known.value} ({status})", "source": known.source}
    if instances.base:
        rows["published at"] = instances.url(entry.file)
    if instances.home:
        rows["home page"] = instances.home
    return rows | {"remarks": instances.remarks, "sha256": entry.sha256}


def _fetch(args: argparse.Namespace) -> int:
    def say(line: str) -> None:
        show(line, file=sys.stderr)

    instances = catalogue().set(args.name)
    failures = fetch(instances, args.base, say)
    for failure in failures:
        say(str(failure))
    if instances.base:
        correct = len({entry.file for entry in instances.entries.values()}) - len(failures)
        show(
            f"{instances.name}: {counted(correct, 'file is', 'files are')} complete and correct,"
            f" {len(failures)} failed"
        )
    return 1 if failures else 0


def _check(args: argparse.Namespace) -> int:
    index = Index()
    wrong = 0
    for instances in _sets(args.name):
        entries = instances.entries.values()
        paths = {entry: path for entry in entries if (path := index.of_entry(entry)) is not None}
        for entry, path in paths.items():
            if fault := _fault(Located(entry.full_name, path, entry)):
                wrong += 1
                show(fault)
        show(f"{instances.name}: {len(paths)} of {len(entries)} instances are present and readable")
    show(
        "all files match the published checksums"
        if not wrong
        else counted(wrong, "file is wrong", "files are wrong")
    )
    return 1 if wrong else 0


def _fault(instance: Located) -> str | None:
    """Return what is wrong with a file of the catalogue, or None."""
    path, entry = instance.file(), instance.entry
    try:
        read(instance)
        if entry and digest(path, entry.bytes) != entry.sha256:
            return (
                f"{path}: checksum mismatch with the published {instance.name}. Delete the file and"
                " fetch it again"
            )
    except IslandsError as error:
        return str(error)
    return None


def _sets(name: str | None) -> list[InstanceSet]:
    return [catalogue().set(name)] if name else list(catalogue().sets.values())


_NEEDS = {"show": "an instance, such as tsplib/berlin52", "fetch": "a set, such as tsplib"}
ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "show": _show,
    "fetch": _fetch,
    "check": _check,
}
