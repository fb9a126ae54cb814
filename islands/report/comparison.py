"""The page of several runs: of a series, or of methods that are compared."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np

from islands import text
from islands.report.curves import (
    Curve,
    Reference,
    curves_of,
    draw_gaps,
    draw_profiles,
    draw_targets,
    methods_of,
    profiles,
    shared_instances,
    target_of,
    times_to_targets,
)
from islands.report.figure import inline
from islands.report.page import Page, facts, figure, figures, note, paragraph, table
from islands.report.recorded import RecordedRun
from islands.statistics import moments
from islands.statistics.effects import mann_whitney
from islands.statistics.ranks import SIGNIFICANT, against, friedman, mean_ranks

_DRAWN = 8
"""Instances with a picture of their own at most."""
_METHODS = 16
_PAIRS = 60
_LISTED = 500


def page_of_several(title: str, runs: Sequence[RecordedRun], notes: Sequence[str] = ()) -> Page:
    """Return the page of several runs."""
    page = Page(title)
    curves, references = curves_of(runs)
    methods = list(dict.fromkeys(curve.method for curve in curves))
    instances = list(references)
    seconds = sum(run.result.seconds for run in runs if run.result is not None)
    page.add(
        facts(
            [
                ("runs", len(runs)),
                ("instances", len(instances)),
                ("methods", len(methods)),
                ("not finished", sum(run.result is None for run in runs) or None),
                ("time of all runs", f"{seconds:.1f} s"),
            ]
        )
    )
    page.add(*(note(each) for each in notes))
    if not curves:
        page.add(note("No run has recorded a row yet, so there is no course to show."))
    else:
        page.section("Gap over time", *_gaps(curves, references, methods[:_METHODS]))
        page.section("Time to the target", *_targets(curves, references))
        if len(methods) > 1:
            page.section("Tests", *_tests(curves, methods))
        page.section("Instances", _instances(curves, references))
    page.section("Runs", _runs(runs))
    return page


def _gaps(
    curves: Sequence[Curve], references: Mapping[str, Reference], methods: Sequence[str]
) -> Iterator[str]:
    yield paragraph(
        "Lines: the median of the runs of a method; bands: the quartiles. Gaps are in per cent of"
        " the best known value, or of the best of these runs if none is known; if it is 0, they"
        " are differences.",
        "soft",
    )
    shown = list(references)[:_DRAWN]
    pictures = []
    for instance in shown:
        mine = [curve for curve in curves if curve.instance == instance]
        base = "best known value" if references[instance].is_known else "best of these runs"
        words = f"{instance}: gap to the {base}, {references[instance].value:,.10g}"
        picture = inline(draw_gaps(mine, methods), f"Gap over time. {words}")
        pictures.append(figure(picture, words))
    shared = shared_instances(curves)
    if len(shared) > 1:
        words = _pooled(shared, references)
        mine = [curve for curve in curves if curve.instance in shared]
        picture = inline(draw_gaps(mine, methods), f"Gap over time. {words}")
        pictures.insert(0, figure(picture, words))
    elif len(references) > 1:
        yield note(
            "The methods have fewer than two instances in common, so there is no picture of all"
            " instances."
        )
    yield figures(*pictures)
    if len(references) > len(shown):
        yield paragraph(f"Pictures of the first {len(shown)} of {len(references)} instances.")


def _pooled(shared: Sequence[str], references: Collection[str]) -> str:
    """Return the words for a picture of several instances, which all methods have run."""
    if len(shared) == len(references):
        return f"All {len(shared)} instances"
    return f"The {len(shared)} of {len(references)} instances that all methods have run"


def _targets(curves: Sequence[Curve], references: Collection[str]) -> Iterator[str]:
    shared = shared_instances(curves)
    if len(shared) < min(2, len(references)):
        yield note(
            "The methods have fewer than two instances in common, so their times to targets are not"
            " compared."
        )
        return
    times = times_to_targets([curve for curve in curves if curve.instance in shared])
    words = "The share of runs that have reached the target of their instance"
    if len(references) > 1:
        words = f"{_pooled(shared, references)}: {words[0].lower()}{words[1:]}"
    pictures = [figure(inline(draw_targets(times), words), words, _target_table(times))]
    ratios = profiles(times) if len(times) > 1 else {}
    if ratios and all(len(each) for each in ratios.values()):
        words = (
            "Performance profiles: the share of problems (an instance with a seed) that a method"
            " solves within a factor of the time of the fastest"
        )
        pictures.append(figure(inline(draw_profiles(ratios), words), words))
    yield paragraph(
        "The target of an instance is the median of the final gaps of all its runs, so that half"
        " of them reach it.",
        "soft",
    )
    yield figures(*pictures)


def _target_table(times: Mapping[str, Sequence[tuple[str, int, float]]]) -> str:
    rows = []
    for method, each in times.items():
        reached = [time for _, _, time in each if np.isfinite(time)]
        rows.append(
            (
                method,
                len(each),
                len(reached),
                f"{median(reached):.2f}" if reached else "-",
                f"{max(reached):.2f}" if reached else "-",
            )
        )
    return table(["method", "runs", "at the target", "median seconds", "longest"], rows)


def _tests(curves: Sequence[Curve], methods: Sequence[str]) -> Iterator[str]:
    """Yield the paired tests of all methods, and those of each pair on all instances."""
    finals = {
        method: {(c.instance, c.seed): c.final for c in curves if c.method == method}
        for method in methods
    }
    common = sorted(set.intersection(*(set(each) for each in finals.values())))
    if len(common) > 1:
        losses = np.array([[finals[method][key] for method in methods] for key in common])
        ranks = mean_ranks(losses)
        best = int(np.argmin(ranks))
        p, all_equal = against(losses, best), friedman(losses)
        words = (
            ""
            if all_equal is None
            else f" Friedman's test that all are equal: p = {all_equal:.2g}."
        )
        yield paragraph(
            f"Final gaps of {len(common)} problems (an instance with a seed) that all methods have"
            " run. Mean rank: 1 is the best. p: Wilcoxon's signed-rank test against the best,"
            f" corrected by Holm's method; below {SIGNIFICANT} is significant.{words}"
        )
        order = np.argsort(ranks, kind="stable")
        yield table(
            ["method", "mean rank", "p"],
            [(methods[i], f"{ranks[i]:.2f}", _p(p[i])) for i in order],
        )
    else:
        yield note("Methods have fewer than two problems in common, so no paired test is possible.")
    pairs = [
        (instance, one, other)
        for instance in dict.fromkeys(curve.instance for curve in curves)
        for one, other in combinations(methods, 2)
    ]
    yield paragraph(
        "Each pair on each instance. A: the probability that a run of the first method ends with a"
        " smaller gap than one of the second, ties counted half (Vargha and Delaney); p: Mann and"
        " Whitney's test, not corrected for the number of pairs."
    )
    yield table(
        ["instance", "first", "second", "runs", "p", "A", "effect"],
        _pair_rows(curves, pairs[:_PAIRS]),
    )
    if len(pairs) > _PAIRS:
        yield paragraph(f"The first {_PAIRS} of {len(pairs)} pairs.", "soft")


def _pair_rows(
    curves: Sequence[Curve], pairs: Sequence[tuple[str, str, str]]
) -> Iterator[tuple[object, ...]]:
    for instance, one, other in pairs:
        mine = [c for c in curves if c.instance == instance]
        first = [c.final for c in mine if c.method == one]
        second = [c.final for c in mine if c.method == other]
        if not first or not second:
            continue
        found = mann_whitney(first, second)
        runs = f"{len(first)}, {len(second)}"
        yield (instance, one, other, runs, f"{found.p:.2g}", f"{found.a:.2f}", found.size)


def _p(p: float | None) -> str:
    return "-" if p is None else f"{p:.2g}"


def _instances(curves: Sequence[Curve], references: Mapping[str, Reference]) -> str:
    rows = []
    for instance, method in dict.fromkeys((c.instance, c.method) for c in curves):
        mine = [c for c in curves if (c.instance, c.method) == (instance, method)]
        gaps = [c.final for c in mine if np.isfinite(c.final)]
        hits = sum(gap <= 0 for gap in gaps) if references[instance].is_known else "-"
        rows.append(
            (
                instance,
                method,
                len(mine),
                *(_percent(each(gaps) if gaps else None) for each in (min, moments.mean, max)),
                _percent(moments.deviation(gaps)),
                hits,
                _percent(target_of([c for c in curves if c.instance == instance])),
            )
        )
    header = [
        "instance",
        "method",
        "runs",
        "best gap",
        "mean",
        "worst",
        "std dev",
        "hits",
        "target",
    ]
    return table(header, rows)


def _percent(value: float | None) -> str:
    return "-" if value is None or not np.isfinite(value) else f"{value:.3f}"


def _runs(runs: Sequence[RecordedRun]) -> str:
    methods, folders = methods_of([run.settings for run in runs]), _short([r.folder for r in runs])
    rows = []
    for run, method, folder in list(zip(runs, methods, folders, strict=True))[:_LISTED]:
        result = run.result
        if result is None:
            which = (run.instance, method, run.settings.get("seed", "-"))
            rows.append((*which, *"-----", "not finished", folder))
            continue
        rows.append(
            (
                run.instance,
                method,
                result.seed,
                "none" if result.cost is None else f"{result.cost:,}",
                text.gap(result.gap),
                f"{result.generations:,}",
                text.count(result.evaluations),
                f"{result.seconds:.2f}",
                result.reason,
                folder,
            )
        )
    header = ["instance", "method", "seed", "best", "gap", "generations", "evaluations"]
    return table([*header, "seconds", "stopped", "folder"], rows)


def _short(folders: Sequence[Path]) -> list[str]:
    """Return the names of folders in the folder that contains them all."""
    whole = [folder.resolve() for folder in folders]
    common = os.path.commonpath([folder.parent for folder in whole])
    return [folder.relative_to(common).as_posix() for folder in whole]
