"""Why there is nothing to draw of a run, and the fix."""

from __future__ import annotations

from islands.record.folder import MIGRATIONS, TRACE
from islands.report.recorded import RecordedRun, colonies_of


def without_rows(run: RecordedRun) -> str:
    """Return why a run has no course."""
    if run.result is not None and run.trace is None:
        return f"the trace is missing. Restore {run.folder / TRACE}"
    return "the trace has no rows yet, so there is no course to show. Draw it later"


def without_migrants(run: RecordedRun) -> str:
    """Return why no migrants are known, and how another run would record some."""
    if run.settings.get("record.migrations") is False:
        return "the run did not record migrants. Run it again with record.migrations=true"
    if sum(int(each.get("islands", 0)) for each in colonies_of(run.settings)) == 1:
        return "there is one island, so no migrant arrived. Run it again with more --islands"
    if run.settings.get("migration.topology") == "none":
        return "its islands had no migration. Run it again with another --migration, such as ring"
    if run.result is not None and run.migrations is None:
        return f"the record of migrants is missing. Restore {run.folder / MIGRATIONS}"
    return "no migrant arrived. Run it again for more generations, or with a smaller --interval"
