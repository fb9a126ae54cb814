"""HTML of a result for notebooks: facts, a picture if Matplotlib is installed, and settings."""

from collections.abc import Callable
from contextlib import suppress
from html import escape
from importlib.util import find_spec

from islands.errors import IslandsError
from islands.progress.result import Result
from islands.report.figure import inline, style
from islands.report.pictures import titled
from islands.report.recorded import RecordedRun
from islands.report.solution import shows_more_than_items
from islands.settings import flat

_STYLE = "text-align: left; padding: 0 1em 0 0; border: none; vertical-align: top"
_PICTURE = "max-width: 28em; --grid: #8886"


def of_result(result: Result) -> str:
    """Return the result of a run in memory as HTML."""
    return html(result, lambda: RecordedRun.of(result))


def html(result: Result, recorded: Callable[[], RecordedRun]) -> str:
    """Return a result as HTML without scripts; `recorded` returns its `RecordedRun`."""
    rows = "".join(_row(name, value) for name, value in result.facts().items())
    settings = "".join(_row(name, str(value)) for name, value in flat(result.settings).items())
    parts = [
        f"<table>{rows}</table>",
        *_pictures(result, recorded),
        f"<details><summary>settings</summary><table>{settings}</table></details>",
    ]
    return f"<div>{''.join(parts)}</div>"


def _row(name: str, value: str) -> str:
    head, cell = (f'<{tag} style="{_STYLE}">' for tag in ("th", "td"))
    return f"<tr>{head}{escape(name)}</th>{cell}{escape(value)}</td></tr>"


def _pictures(result: Result, recorded: Callable[[], RecordedRun]) -> list[str]:
    """Return the picture of the solution, or of the course of the run, if there is any."""
    if find_spec("matplotlib") is None:
        return []
    for what in ("solution", "convergence"):
        # If there is no picture, for example without records, the facts are still shown.
        with suppress(IslandsError), style():
            run = recorded()
            if what == "solution" and not shows_more_than_items(run.problem, result.solution_kind):
                continue
            picture = inline(titled(run, what), f"{what} of {result.instance}")
            return [f'<div style="{_PICTURE}">{picture}</div>']
    return []
