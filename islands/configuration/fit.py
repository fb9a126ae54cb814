"""What is refused: names that no setting has, and parts and sizes that do not fit together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Algorithm
from islands.archipelago.colonies import of_colony
from islands.archipelago.parts import ProgramParts
from islands.backends.base import Room
from islands.backends.source import without_room
from islands.bounds.methods import method_for
from islands.configuration.asked import Source
from islands.configuration.resolved import Resolved
from islands.configuration.spec import GROUPS, GeneralSettings, RunSpec
from islands.configuration.stop import CRITERIA, OTHER_CRITERIA
from islands.encodings import ENCODINGS, base_encoding
from islands.errors import UsageError
from islands.improvers import ImproverSettings, improvers_for
from islands.keywords import SessionKeywords
from islands.migration.settings import require_fit
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import counted, either, nearest, option, shown, unknown

NAMES = ("instance", "format", "preset", "algorithm", "encoding", "stop", "start")
"""The settings of a run that belong to no group."""

_BOUND = "bound"
_MOST_NEAR = 3
"""Names that the message for an unknown setting suggests."""
_OPTIONS = ("population", "threads", "seed", "islands", "migration", "out")
"""Settings in `OTHER_NAMES` that are options of the command line."""

_OTHERS = {
    "population=N": "pop_size popsize population_size n_pop",
    "maximise=True where the problem is made: islands.permutation(n, ..., maximise=True)": (
        "maximize maximise direction sense"
    ),
    "threads=N": "n_jobs workers num_workers n_threads nthreads",
    "seed=N": "random_state random_seed rng",
    "start=[solution]": "x0 init initial_solution initial warm_start",
    "islands=N": "n_islands num_islands",
    "migration=TOPOLOGY": "topology migrations",
    "out=FOLDER": "log_dir output output_dir",
    "verbose=True": "disp progress progress_bar display",
    "stop='seconds=60'": "termination stopping_criterion",
    "them where the problem is made": "bounds constraints",
    "backend='cuda' or backend='cpu'": "device",
    "callback=FUNCTION": "callbacks",
    "gap=0.1": "tol",
}
OTHER_NAMES = OTHER_CRITERIA | {
    name: fix for fix, names in _OTHERS.items() for name in names.split()
}
"""What to write instead of names that other libraries have."""


class UnknownSettingError(UsageError):
    """A setting that neither the run nor its algorithm has."""

    key = ""
    """Its full name."""
    algorithm = ""


def refuse_unknown(sources: Sequence[Source], algorithm: type[Algorithm], problem: Problem) -> None:
    """Refuse a name that no setting of a run with this algorithm has."""
    known = known_settings([algorithm], problem)
    allowed = {*known, *GeneralSettings.names()}  # with values that have no effect
    unknowns = [(each, key) for each in sources for key in each.values if key not in allowed]
    if not unknowns:
        return
    source, key = unknowns[0]
    others = [name for name, kind in PROBLEMS.items() if key in kind.Settings.names()]
    if others:
        kinds = " or ".join(others)
        raise UsageError(
            f"{source.origin}{key}: is a setting of {kinds}, but {problem.instance} is an"
            f" instance of {problem.name}. Leave it out, or choose an instance of {kinds}"
        )
    if key in OTHER_NAMES:
        raise UsageError(
            f"{source.origin}{key}: is not a setting of islands. Write {_written(OTHER_NAMES[key])}"
        )
    # Someone may have written the name of the algorithm before that of its setting.
    named = key.removeprefix(f"{algorithm.name}.")
    text = unknown_setting([algorithm], named, problem)
    if named in known:
        text = f"{key}: is not a setting of islands. Write {named}"
    error = UnknownSettingError(f"{source.origin}{text}")
    error.key, error.algorithm = key, algorithm.name
    raise error


def owners(name: str, problem: Problem) -> list[str]:
    """Return the algorithms for a problem that have a setting of this name."""
    fit = {algorithm for algorithm, _ in fitting(problem)}
    return [
        each for each in ALGORITHMS if each in fit and name in ALGORITHMS[each].Settings.names()
    ]


def unknown_setting(kinds: Sequence[type[Algorithm]], name: str, problem: Problem) -> str:
    """Return the message for a setting that these algorithms lack.

    It names the algorithms that have it, or else the nearest names, or else all names.
    """
    names = either([kind.name for kind in kinds])
    if others := owners(name, problem):
        verb = "have" if others[1:] else "has"
        return (
            f"{name}: {names} has no such setting, but {', '.join(others)} {verb} it. Choose"
            f" {option('algorithm', others)}, or leave {name} out"
        )
    known = known_settings(kinds, problem)
    is_typed = option("").startswith("--")  # on the command line
    of_python = [each for each in SessionKeywords.__annotations__ if each not in every_setting()]
    keywords = [] if is_typed else of_python
    endings = [each for each in known if each.rpartition(".")[2] == name]
    near = [*dict.fromkeys([*endings, *nearest(name, [*known, *keywords], _MOST_NEAR)])]
    if near:
        hint = f"Did you mean {either([*map(repr, near[:_MOST_NEAR])])}?"
    elif of_stop := nearest(name, CRITERIA):
        hint = f"Write {option('stop', CRITERIA[of_stop[0]].example)}"
    else:
        of_run = {*GeneralSettings.names(), *NAMES}
        own = [each for each in known if each not in of_run and "." not in each]
        hint = f"Known: {', '.join(own)}, and those of all runs, such as population and islands"
    what = f"setting of {names}" + (f" on {problem.name}" if problem.Settings.names() else "")
    return f"unknown {what} {shown(name)}. {hint}"


def _written(example: str) -> str:
    """Return an example of a setting in Python as it is on the command line, if that is in use."""
    name, _, value = example.partition("=")
    if name in CRITERIA and (text := option("stop", example)).startswith("--"):
        return text
    return option(name, value) if name in _OPTIONS and option(name).startswith("--") else example


def how_to_write(word: str) -> str | None:
    """Return how to write what someone took for an option: a criterion or a setting, or None."""
    name = word.lstrip("-").replace("-", "_")
    if name in OTHER_NAMES:
        return _written(OTHER_NAMES[name])
    if near := nearest(name, CRITERIA):
        return option("stop", CRITERIA[near[0]].example)
    near = nearest(name, every_setting())
    return option("set", f"{near[0]}=VALUE") if near else None


def known_settings(algorithms: Sequence[type[Algorithm]], problem: Problem) -> list[str]:
    """Return the full names of all settings that runs with these algorithms on a problem use."""
    of_algorithms = [name for each in algorithms for name in each.Settings.names()]
    has_bound = method_for(problem) is not None
    general = [name for name in GeneralSettings.names() if name != _BOUND or has_bound]
    known = [*general, *of_algorithms, *problem.Settings.names(), *NAMES]
    known += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    return list(dict.fromkeys(known))


def every_setting() -> list[str]:
    """Return the full names of all settings, of all algorithms and problems."""
    groups: list[type[Settings]] = [GeneralSettings]
    groups += [each.Settings for each in ALGORITHMS.values()]
    groups += [each.Settings for each in PROBLEMS.values()]
    known = [name for group in groups for name in group.names()]
    known += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    return list(dict.fromkeys([*known, *NAMES]))


def fitting(problem: Problem) -> list[tuple[str, str]]:
    """Return all pairs of an algorithm and an encoding that can solve the problem."""
    return [
        (algorithm, encoding)
        for algorithm, kind in ALGORITHMS.items()
        if kind.fits(problem)
        for own in kind.encodings
        for encoding, by_kind in ENCODINGS.items()
        if problem.solution_kind in by_kind
        and own in (encoding, base_encoding(encoding))
        and kind.reads(problem, encoding)
    ]


def encoding_for(algorithm: str, requested: str | None, problem: Problem) -> str:
    """Return the requested encoding, or by default the algorithm's first that fits.

    Refuse a combination that is not possible.
    """
    if algorithm not in ALGORITHMS:
        raise UsageError(unknown("algorithm", algorithm, ALGORITHMS))
    if requested is not None and requested not in ENCODINGS:
        raise UsageError(unknown("encoding", requested, ENCODINGS))
    moved, pairs = ALGORITHMS[algorithm].encodings, fitting(problem)
    own = [encoding for name, encoding in pairs if name == algorithm]
    fit = [encoding for encoding in own if requested in (None, encoding)]
    if fit:
        return fit[0]
    others = [name for name, encoding in pairs if encoding == requested]
    if others:
        raise UsageError(
            f"{option('encoding', requested)}: {algorithm} only supports"
            f" {' or '.join(own or moved)} for {problem.instance}. Leave {option('encoding')} out,"
            f" or choose {option('algorithm', others)}"
        )
    if not ALGORITHMS[algorithm].fits(problem):
        shown = ", ".join(f"{name} on {encoding}" for name, encoding in pairs)
        raise UsageError(
            f"{algorithm} needs {ALGORITHMS[algorithm].needs}, which {problem.instance} does not"
            f" have. Possible: {shown}"
        )
    shown = ", ".join(f"{name} on {encoding}" for name, encoding in pairs) or "no combination"
    raise UsageError(
        f"{algorithm} on {requested or ' or '.join(moved)} does not fit {problem.instance}, whose"
        f" solutions have the kind {problem.solution_kind!r}. Possible: {shown}"
        + (f". Leave {option('encoding')} out, or choose another one" if requested else "")
    )


def require_improver(settings: ImproverSettings, problem: Problem, algorithm: str) -> None:
    """Refuse an improver that does not support the problem or the algorithm."""
    if settings.name != "none" and not ALGORITHMS[algorithm].improves:
        known = dict.fromkeys(name for name, _ in fitting(problem))
        others = [each for each in known if ALGORITHMS[each].improves]
        raise UsageError(
            f"improver {settings.name}: {algorithm} takes no improver, as it improves solutions"
            f" itself. Leave {option('improver')} out, or choose {option('algorithm', others)}"
        )
    name, of_kind = settings.name, improvers_for(problem.solution_kind)
    if problem.scale.real:
        if name in of_kind and of_kind[name].adds_costs:
            raise UsageError(
                f"improver {name} adds up differences of costs, which must be integers, but"
                f" {problem.instance} has real costs. Return long long, or choose another improver"
            )
        of_kind = {each: improver for each, improver in of_kind.items() if not improver.adds_costs}
    lacking = {
        each: [move for move in improver.moves if move not in problem.moves]
        for each, improver in of_kind.items()
    }
    near = [each for each, improver in of_kind.items() if improver.uses_neighbours]
    has_distances = problem.near is not None
    far = near if problem.near is None or problem.near.is_directed else []
    fit = [each for each, moves in lacking.items() if not moves and each not in far]
    if name in fit:
        if settings.core and name != "none" and not problem.layout.sorts_items:
            raise UsageError(
                f"improver.core={settings.core}: needs an order of the items by utility. Choose"
                " infeasible=repair, or leave improver.core out"
            )
        return
    if name in far:
        needed = "distances between items"
        if has_distances:
            needed = "distances that are the same in both directions"
        owner = problem.instance if has_distances else problem.name
        raise UsageError(
            f"improver {name} needs {needed}, which {owner} does not have. Possible:"
            f" {', '.join(fit)}"
        )
    if name in lacking:
        missing = " and ".join(lacking[name])
        raise UsageError(
            f"improver {name} needs the delta of the move {missing}, which {problem.name} does not"
            f" have. {problem.words.moves_fix}, or choose an improver that fits: {', '.join(fit)}"
        )
    raise UsageError(
        f"improver {name} does not fit {problem.instance}, whose solutions have the kind"
        f" {problem.solution_kind!r}. Possible: {', '.join(fit)}"
    )


def require_bound(problem: Problem) -> None:
    """Refuse a bound of a problem that has none."""
    if method_for(problem) is None:
        raise UsageError(
            f"{option('bound', True)}: bounds are computed for tsp, mkp and sparse instances of"
            f" qap, but not for {problem.instance} ({problem.name}). Leave {option('bound')} out"
        )


def require_possible(resolved: Resolved, block_memory: int | None = None) -> None:
    """Refuse parts, populations and migration that do not fit together, without compiling.

    A GPU has a limit of the memory of a block. A lack of device memory only appears in a run.
    """
    spec, problem = resolved.spec, resolved.problem
    for number, colony in enumerate(spec.all_colonies):
        with of_colony(number if spec.colonies else None):
            parts = ProgramParts.of(colony, problem, block_memory)
            parts.algorithm.require_problem(problem)
            _ = parts.schedule  # refuses one whose children only its kernels evaluate
            require_population(spec, colony.population, parts.algorithm, spec.general.islands)


def require_block_memory(resolved: Resolved, block_memory: Callable[[], int | None]) -> None:
    """Refuse launches that declare more memory than a block has, without compiling.

    `block_memory` returns its bytes, or None for no limit; it is only called if there are such
    launches, as it may take a while. The needs of other launches are known after compilation.
    """
    spec = resolved.spec
    for number, colony in enumerate(spec.all_colonies):
        if ALGORITHMS[colony.algorithm].schedule is Algorithm.schedule:
            continue  # its launches have the memory of the program
        with of_colony(number if spec.colonies else None):
            for launch in ProgramParts.of(colony, resolved.problem, None).schedule.launches():
                if launch.threads is None or not launch.room:
                    continue
                needed, limit = Room(launch.room).total, block_memory()
                if limit is not None and needed > limit:
                    raise without_room(launch.kernel, needed, limit)


def require_population(spec: RunSpec, population: int, algorithm: Algorithm, islands: int) -> None:
    """Refuse a population that is too small for the algorithm, the migrants or the start.

    `islands` are those of the whole run.
    """
    require_fit(algorithm, population, spec.migration, islands=islands, seed=spec.general.seed)
    if len(spec.start) > islands * population:
        raise UsageError(
            f"{counted(len(spec.start), 'start solution')}: {counted(islands, 'island')} of"
            f" population={population} hold {islands * population}. Name fewer, or raise population"
        )
