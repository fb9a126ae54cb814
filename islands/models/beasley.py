"""Files of quadratic binary problems in OR-Library: several per file, all maximised."""

from pathlib import Path

from islands.instances.mkp import part_of
from islands.models.files import NumberFile
from islands.models.quadratic import Qubo, qubo
from islands.models.quadratic_files import sizes_of, symmetric


def read(path: Path, part: int | None = None) -> Qubo:
    """Return a problem in a file: the number of problems, then each of them in BiqMac's format.

    The number may be missing if it is 1. `part` is the index of the problem if there are several.
    """
    with NumberFile.open(path) as file:
        head, count = file.line() or [], 1
        if len(head) == 1:
            count, head = file.whole(head[0], "numbers of problems", 1), file.line() or []
        part = part_of(path, part, count)
        for _ in range(part):
            _, m = sizes_of(file, head)
            file.expect(f"a matrix of {m} entries", 3 * m)
            for _ in range(m):
                file.line()
            head = file.line() or []
        return qubo(symmetric(file, head, is_last=part == count - 1), maximise=True)
