"""The page of several runs: a series, or methods that are compared."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np

from islands import statistics, text
from islands.report.page import Page, facts, figures, note, paragraph, plot, table
from islands.report.recorded import RecordedRun
from islands.statistics import SIGNIFICANT, against, friedman, mean_ranks
from islands.studies.described import described
from islands.studies.pages import curves as courses
from islands.studies.pages.curves import Curve, Reference, target_of
from islands.studies.significance import mann_whitney

_TEXTS: Mapping[str, str] = described(Path(__file__).with_suffix(".toml"))
_DRAWN = 8
"""Maximum number of instances that have a picture of their own."""
_METHODS = 16
_PAIRS = 60
_LISTED = 500


def page_of_several(title: str, runs: Sequence[RecordedRun], notes: Sequence[str] = ()) -> Page:
    """Return the page of several runs."""
    page = Page(title)
    curves, references = courses.curves_of(runs)
    methods = list(dict.fromkeys(curve.method for curve in curves))
    seconds = sum(run.result.seconds for run in runs if run.result is not None)
    page.add(
        facts(
            [
                ("runs", len(runs)),
                ("instances", len(references)),
                ("methods", len(methods)),
                ("not finished", sum(run.result is None for run in runs) or None),
                ("time of all runs", f"{seconds:.1f} s"),
            ]
        ),
        *map(note, notes),
    )
    if not curves:
        page.add(note("No run has recorded a row yet, so there is no course to show."))
    else:
        shared = courses.shared_instances(curves)
        pooled = f"All {len(shared)} instances"
        if len(shared) < len(references):
            words = "instances that all methods have run"
            pooled = f"The {len(shared)} of {len(references)} {words}"
        common = [curve for curve in curves if curve.instance in shared]
        if len(shared) < min(2, len(references)):
            common = []
        page.section("Gap over time", *_gaps(curves, common, references, pooled))
        page.section("Time to the target", *_targets(common, pooled))
        if len(methods) > 1:
            page.section("Tests", *_tests(curves))
        page.section("Instances", table(_instances(curves, references)))
    page.section("Runs", table(_runs(runs)))
    return page


def _gaps(
    curves: Sequence[Curve],
    common: Sequence[Curve],
    references: Mapping[str, Reference],
    pooled: str,
) -> Iterator[str]:
    """Yield a picture of the `common` curves of all instances, and one for each instance."""
    yield paragraph(_TEXTS["gaps"], "soft")
    methods = list(dict.fromkeys(curve.method for curve in curves))[:_METHODS]
    pictures = {}
    if len(references) > 1:
        if common:
            pictures[pooled] = common
        else:
            yield note(_TEXTS["no_gaps"])
    for instance, reference in list(references.items())[:_DRAWN]:
        base = "best known value" if reference.is_known else "best of these runs"
        words = f"{instance}: gap to the {base}, {reference.value:,.10g}"
        of_instance = [curve for curve in curves if curve.instance == instance]
        if not any(np.isfinite(curve.final) for curve in of_instance):
            words = f"{instance}: no run found a feasible solution"
        pictures[words] = of_instance
    yield figures(
        *(
            plot(courses.draw_gaps(shown, methods), words, label=f"Gap over time. {words}")
            for words, shown in pictures.items()
        )
    )
    if len(references) > _DRAWN:
        yield paragraph(f"Pictures of the first {_DRAWN} of {len(references)} instances.")


def _targets(common: Sequence[Curve], pooled: str) -> Iterator[str]:
    if not common:
        yield note(_TEXTS["no_targets"])
        return
    times = courses.times_to_targets(common)
    words = "The share of runs that have reached the target of their instance"
    if len({curve.instance for curve in common}) > 1:
        words = f"{pooled}: {words[0].lower()}{words[1:]}"
    pictures = [plot(courses.draw_targets(times), words, table(_target_rows(times)))]
    ratios = courses.profiles(times) if len(times) > 1 else {}
    if ratios and all(len(values) for values in ratios.values()):
        pictures.append(plot(courses.draw_profiles(ratios), _TEXTS["profiles"]))
    yield paragraph(_TEXTS["target"], "soft")
    yield figures(*pictures)


def _target_rows(
    times: Mapping[str, Sequence[tuple[str, int, float]]],
) -> Iterator[dict[str, object]]:
    for method, runs in times.items():
        reached = [time for _, _, time in runs if np.isfinite(time)]
        yield {
            "method": method,
            "runs": len(runs),
            "at the target": len(reached),
            "median seconds": f"{median(reached):.2f}" if reached else "-",
            "longest": f"{max(reached):.2f}" if reached else "-",
        }


def _tests(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield the paired tests of all methods, and the test of each pair on each instance."""
    methods, losses = courses.final_losses(curves)
    if len(losses) > 1:
        ranks, all_equal = mean_ranks(losses), friedman(losses)
        p = against(losses, int(np.argmin(ranks)))
        words = f" Friedman's test that all are equal: p = {_p(all_equal)}."
        sentence = _TEXTS["ranks"].format(problems=len(losses), significant=SIGNIFICANT)
        yield paragraph(sentence if all_equal is None else sentence + words)
        yield table(
            {"method": methods[i], "mean rank": f"{ranks[i]:.2f}", "p": _p(p[i])}
            for i in np.argsort(ranks, kind="stable")
        )
    else:
        yield note(_TEXTS["no_ranks"])
    pairs = [
        (instance, one, other)
        for instance in dict.fromkeys(curve.instance for curve in curves)
        for one, other in combinations(methods, 2)
    ]
    yield paragraph(_TEXTS["pairs"])
    yield table(_pair_rows(curves, pairs[:_PAIRS]))
    if len(pairs) > _PAIRS:
        yield paragraph(f"The first {_PAIRS} of {len(pairs)} pairs.", "soft")


def _pair_rows(
    curves: Sequence[Curve], pairs: Sequence[tuple[str, str, str]]
) -> Iterator[dict[str, object]]:
    for instance, one, other in pairs:
        first, second = (
            [c.final for c in curves if (c.instance, c.method) == (instance, method)]
            for method in (one, other)
        )
        if first and second:
            test = mann_whitney(first, second)
            yield {
                "instance": instance,
                "first": one,
                "second": other,
                "runs": f"{len(first)}, {len(second)}",
                "p": _p(test.p),
                "A": f"{test.a:.2f}",
                "effect": test.size,
            }


def _p(p: float | None) -> str:
    return "-" if p is None else f"{p:.2g}"


def _instances(
    curves: Sequence[Curve], references: Mapping[str, Reference]
) -> Iterator[dict[str, object]]:
    for instance, method in dict.fromkeys((c.instance, c.method) for c in curves):
        own_curves = [c for c in curves if (c.instance, c.method) == (instance, method)]
        gaps = [c.final for c in own_curves if np.isfinite(c.final)]
        yield {
            "instance": instance,
            "method": method,
            "runs": len(own_curves),
            "best gap": _percent(min(gaps, default=None)),
            "mean": _percent(statistics.mean(gaps) if gaps else None),
            "worst": _percent(max(gaps, default=None)),
            "std dev": _percent(statistics.deviation(gaps)),
            "hits": sum(gap <= 0 for gap in gaps) if references[instance].is_known else "-",
            "target": _percent(target_of([c for c in curves if c.instance == instance])),
        }


def _percent(value: float | None) -> str:
    return "-" if value is None or not np.isfinite(value) else f"{value:.3f}"


def _runs(runs: Sequence[RecordedRun]) -> Iterator[dict[str, object]]:
    methods = courses.methods_of([run.settings for run in runs])
    folders = _short([run.folder for run in runs])
    for run, method, folder in list(zip(runs, methods, folders, strict=True))[:_LISTED]:
        result = run.result
        measured: list[object] = [*"-----", "not finished"]
        if result is not None:
            measured = [
                "none" if result.cost is None else f"{result.cost:,}",
                text.gap(result.gap),
                f"{result.generations:,}",
                text.count(result.evaluations),
                f"{result.seconds:.2f}",
                result.reason,
            ]
        names = ("best", "gap", "generations", "evaluations", "seconds", "stopped")
        yield {
            "instance": run.instance,
            "method": method,
            "seed": run.settings.get("seed", "-") if result is None else result.seed,
            **dict(zip(names, measured, strict=True)),
            "folder": folder,
        }


def _short(folders: Sequence[Path]) -> list[str]:
    """Return the paths of folders, relative to the folder that contains them all."""
    whole = [folder.resolve() for folder in folders]
    common = os.path.commonpath([folder.parent for folder in whole])
    return [folder.relative_to(common).as_posix() for folder in whole]
