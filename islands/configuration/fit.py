"""Reject unknown settings, and combinations of parts and sizes that are impossible."""

from collections.abc import Callable, Sequence

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Algorithm
from islands.archipelago.colonies import of_colony
from islands.archipelago.parts import ProgramParts
from islands.backends.base import Room
from islands.backends.messages import too_little_shared_memory
from islands.bounds.methods import method_for
from islands.configuration import messages
from islands.configuration.request import Source
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
"""The settings of a run that are in no group of settings."""

_BOUND = "bound"
_MOST_NEAR = 3
"""The maximum number of names that a message suggests."""
_OPTIONS = ("population", "threads", "seed", "islands", "migration", "out")
"""The settings in `OTHER_NAMES` that are options of the command line."""

_OTHERS = {
    "population=N": "pop_size popsize population_size n_pop",
    "maximise=True where the problem is created: islands.permutation(n, ..., maximise=True)": (
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
    "them where the problem is created": "bounds constraints",
    "backend='cuda' or backend='cpu'": "device",
    "callback=FUNCTION": "callbacks",
    "gap=0.1": "tol",
}
OTHER_NAMES = OTHER_CRITERIA | {
    name: fix for fix, names in _OTHERS.items() for name in names.split()
}
"""Settings of other libraries, and how to write them in islands."""


class UnknownSettingError(UsageError):
    """A setting that neither the run nor its algorithm has."""

    key = ""
    """The full name of the setting."""
    algorithm = ""


def reject_unknown(sources: Sequence[Source], algorithm: type[Algorithm], problem: Problem) -> None:
    """Reject a setting that a run with this algorithm does not have."""
    known = known_settings([algorithm], problem)
    allowed = {*known, *GeneralSettings.names()}  # some, such as bound, may have no effect
    unknowns = (
        (source.origin, key) for source in sources for key in source.values if key not in allowed
    )
    origin, key = next(unknowns, ("", None))
    if key is None:
        return
    others = [name for name, kind in PROBLEMS.items() if key in kind.Settings.names()]
    if others:
        raise messages.setting_of_other_problems(
            origin=origin, key=key, others=others, problem=problem
        )
    if key == "runs":  # a setting of calls and commands with many runs
        fix = option(key, "N") if _on_command_line() else "islands.solve_many([problem], runs=N)"
        raise UsageError(f"{origin}{key}: is not a setting of one run. Write {fix}")
    if key in OTHER_NAMES:
        raise UsageError(
            f"{origin}{key}: is not a setting of islands. Write {_written(OTHER_NAMES[key])}"
        )
    # The user may have written the name of the algorithm before the setting.
    short = key.removeprefix(f"{algorithm.name}.")
    text = unknown_setting([algorithm], short, problem)
    if short in known:
        text = f"{key}: is not a setting of islands. Write {short}"
    error = UnknownSettingError(f"{origin}{text}")
    error.key, error.algorithm = key, algorithm.name
    raise error


def owners(name: str, problem: Problem) -> list[str]:
    """Return the algorithms that fit a problem and have a setting of this name."""
    fit = {algorithm for algorithm, _ in fitting(problem)}
    return [
        algorithm
        for algorithm, kind in ALGORITHMS.items()
        if algorithm in fit and name in kind.Settings.names()
    ]


def unknown_setting(kinds: Sequence[type[Algorithm]], name: str, problem: Problem) -> str:
    """Return the message about a setting that these algorithms lack.

    The message names the algorithms that have it, or else similar settings, or else all settings.
    """
    names = either([kind.name for kind in kinds])
    if others := owners(name, problem):
        verb = "have" if others[1:] else "has"
        return (
            f"{name}: {names} has no such setting, but {', '.join(others)} {verb} it. Choose"
            f" {option('algorithm', others)}, or leave {name} out"
        )
    known = known_settings(kinds, problem)
    settings, keywords = every_setting(), SessionKeywords.__annotations__
    python_only = [] if _on_command_line() else [name for name in keywords if name not in settings]
    endings = [setting for setting in known if setting.rpartition(".")[2] == name]
    near = [*dict.fromkeys([*endings, *nearest(name, [*known, *python_only], _MOST_NEAR)])]
    if near:
        hint = f"Did you mean {either([*map(repr, near[:_MOST_NEAR])])}?"
    elif criteria := nearest(name, CRITERIA):
        hint = f"Write {option('stop', CRITERIA[criteria[0]].example)}"
    else:
        run_names = {*GeneralSettings.names(), *NAMES}
        others = [setting for setting in known if setting not in run_names and "." not in setting]
        hint = f"Known: {', '.join(others)}, and those of all runs, such as population and islands"
    what = f"setting of {names}" + (f" on {problem.name}" if problem.Settings.names() else "")
    return f"unknown {what} {shown(name)}. {hint}"


def _on_command_line() -> bool:
    return option("").startswith("--")


def _written(example: str) -> str:
    """Return an example as a keyword argument or, on the command line, as an option."""
    name, _, value = example.partition("=")
    if not _on_command_line():
        return example
    if name in CRITERIA:
        return option("stop", example)
    return option(name, value) if name in _OPTIONS else example


def how_to_write(word: str) -> str | None:
    """Return how to write the criterion or setting that an unknown option may mean, or None."""
    name = word.lstrip("-").replace("-", "_")
    if name in OTHER_NAMES:
        return _written(OTHER_NAMES[name])
    if near := nearest(name, CRITERIA):
        return option("stop", CRITERIA[near[0]].example)
    near = nearest(name, every_setting())
    return option("set", f"{near[0]}=VALUE") if near else None


def known_settings(algorithms: Sequence[type[Algorithm]], problem: Problem) -> list[str]:
    """Return the full names of the settings of runs with these algorithms on a problem."""
    of_algorithms: list[type[Settings]] = [kind.Settings for kind in algorithms]
    known = _names([GeneralSettings, *of_algorithms, problem.Settings])
    if method_for(problem) is None:
        known.remove(_BOUND)
    return known


def every_setting() -> list[str]:
    """Return the full names of all settings, of all algorithms and problems."""
    of_algorithms: list[type[Settings]] = [kind.Settings for kind in ALGORITHMS.values()]
    of_problems: list[type[Settings]] = [kind.Settings for kind in PROBLEMS.values()]
    return _names([GeneralSettings, *of_algorithms, *of_problems])


def _names(groups: Sequence[type[Settings]]) -> list[str]:
    """Return the full names of the settings of these groups and of every run."""
    names = [*(name for group in groups for name in group.names()), *NAMES]
    names += [f"{name}.{key}" for name, group in GROUPS.items() for key in group.names()]
    return list(dict.fromkeys(names))


def fitting(problem: Problem) -> list[tuple[str, str]]:
    """Return the pairs of an algorithm and an encoding that can solve the problem."""
    return [
        (algorithm, encoding)
        for algorithm, kind in ALGORITHMS.items()
        if kind.fits(problem)
        for supported in kind.encodings
        for encoding, by_kind in ENCODINGS.items()
        if problem.solution_kind in by_kind
        and supported in (encoding, base_encoding(encoding))
        and kind.reads(problem, encoding)
    ]


def encoding_for(algorithm: str, requested: str | None, problem: Problem) -> str:
    """Return the requested encoding, or by default the first that fits; reject one that does not.

    Also reject an algorithm without any encoding for the problem.
    """
    if algorithm not in ALGORITHMS:
        raise UsageError(unknown("algorithm", algorithm, ALGORITHMS))
    if requested is not None and requested not in ENCODINGS:
        raise UsageError(unknown("encoding", requested, ENCODINGS))
    kind, pairs = ALGORITHMS[algorithm], fitting(problem)
    possible = [encoding for name, encoding in pairs if name == algorithm]
    if possible and requested in (None, *possible):
        return possible[0] if requested is None else requested
    others = [name for name, encoding in pairs if encoding == requested]
    if requested is not None and others:
        raise messages.encoding_of_others(
            encoding=requested,
            algorithm=algorithm,
            possible=possible or kind.encodings,
            others=others,
            problem=problem,
        )
    if not kind.fits(problem):
        raise messages.unmet_needs(algorithm=kind, problem=problem, pairs=pairs)
    raise messages.unfit_algorithm(algorithm=kind, encoding=requested, problem=problem, pairs=pairs)


def require_improver(settings: ImproverSettings, problem: Problem, algorithm: str) -> None:
    """Reject an improver that does not support the problem or the algorithm."""
    if settings.name != "none" and not ALGORITHMS[algorithm].improves:
        fit = dict.fromkeys(name for name, _ in fitting(problem))
        others = [name for name in fit if ALGORITHMS[name].improves]
        raise messages.takes_no_improver(improver=settings.name, algorithm=algorithm, others=others)
    name, candidates = settings.name, improvers_for(problem.solution_kind)
    if problem.scale.real:
        if name in candidates and candidates[name].adds_costs:
            raise messages.improver_of_integers(improver=name, problem=problem)
        candidates = {
            key: improver for key, improver in candidates.items() if not improver.adds_costs
        }
    missing = {
        key: [move for move in improver.moves if move not in problem.moves]
        for key, improver in candidates.items()
    }
    need_distances: list[str] = []
    if problem.near is None or problem.near.is_directed:
        need_distances = [key for key, improver in candidates.items() if improver.uses_neighbours]
    possible = [key for key, moves in missing.items() if not moves and key not in need_distances]
    if name in possible:
        if settings.core and name != "none" and not problem.layout.sorts_items:
            raise messages.core_without_order(core=settings.core)
        return
    if name in need_distances:
        raise messages.improver_of_distances(improver=name, problem=problem, possible=possible)
    if name in missing:
        raise messages.improver_of_moves(
            improver=name, moves=missing[name], problem=problem, possible=possible
        )
    raise messages.unfit_improver(improver=name, problem=problem, possible=possible)


def require_bound(problem: Problem) -> None:
    """Reject a problem for which there is no method to compute a bound."""
    if method_for(problem) is None:
        raise UsageError(
            f"{option('bound', True)}: bounds are computed for tsp, mkp and sparse instances of"
            f" qap, but not for {problem.instance} ({problem.name}). Leave {option('bound')} out"
        )


def require_possible(resolved: Resolved, shared_memory: int | None = None) -> None:
    """Reject parts, populations and migration that do not fit together, without compiling.

    `shared_memory` is the limit of a block on a GPU. A lack of device memory is not detected.
    """
    spec, problem = resolved.spec, resolved.problem
    for number, colony in enumerate(spec.all_colonies):
        with of_colony(number if spec.colonies else None):
            parts = ProgramParts.of(colony, problem, shared_memory)
            parts.algorithm.require_problem(problem)
            _ = parts.schedule  # rejects costs in Python if only kernels can evaluate children
            require_population(spec, colony.population, parts.algorithm, spec.general.islands)


def require_shared_memory(resolved: Resolved, shared_memory: Callable[[], int | None]) -> None:
    """Reject launches that declare more memory than a block has, without compiling.

    `shared_memory` returns the limit in bytes, or None; it may take a while, and is called only if
    launches declare memory. The needs of other launches are known only after compilation.
    """
    spec = resolved.spec
    for number, colony in enumerate(spec.all_colonies):
        if ALGORITHMS[colony.algorithm].schedule is Algorithm.schedule:
            continue  # the memory of its launches is known after compilation
        with of_colony(number if spec.colonies else None):
            for launch in ProgramParts.of(colony, resolved.problem, None).schedule.launches():
                if launch.threads is None or not launch.room:
                    continue
                needed, limit = Room(launch.room).total, shared_memory()
                if limit is not None and needed > limit:
                    raise too_little_shared_memory(launch.kernel, needed, limit)


def require_population(spec: RunSpec, population: int, algorithm: Algorithm, islands: int) -> None:
    """Reject a population that is too small for the algorithm, the migrants or start solutions.

    `islands` is the number of islands of the whole run.
    """
    require_fit(algorithm, population, spec.migration, islands=islands, seed=spec.general.seed)
    if len(spec.start) > islands * population:
        raise UsageError(
            f"{counted(len(spec.start), 'start solution')}: {counted(islands, 'island')} of"
            f" population={population} hold {islands * population}. Specify fewer, or raise"
            " population"
        )
