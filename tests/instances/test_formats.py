import gzip
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from instance_texts import COUNTED, DRAKE, SAC94, TITLED, content, drake_text, write
from synthetic import correlated_mkp

from islands.errors import InputError
from islands.instances.formats import recognised
from islands.instances.mkp import MkpFile, read_mkp

QAP = "2\n1 2\n3 4\n5 6\n7 8\n"


def wrapped(words: list[str], width: int) -> str:
    rows = (words[start : start + width] for start in range(0, len(words), width))
    return "\n".join(" ".join(row) for row in rows)


def as_sac94(file: MkpFile) -> str:
    m, n = file.weights.shape
    rows = [[m, n], file.profits, file.capacities, *file.weights, [file.optimum or 0]]
    return "\n".join(" ".join(map(str, row)) for row in rows)


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("A.TSP.GZ", "", "tsplib"),
        ("A.DAT", QAP, "qaplib"),
        ("a.qap.gz", "", "qaplib"),
        ("a.txt", COUNTED, "orlib"),
        ("a.txt", TITLED, "orlib"),
        # More than a recogniser reads, in rows that are longer than those of a quadratic problem.
        ("a.txt", "1\n20000 5\n0\n" + ("54321 " * 20_000 + "\n") * 5, "orlib"),
        ("a.txt", "# two problems\n2\n3 2\n1 2 5\n2 3 -4\n3 1\n1 1 7\n", "bqp"),
        ("a.dat", QAP.replace("\n", " "), "qaplib"),
        ("a.dat", "1 0 0", "qaplib"),
        ("a.dat", DRAKE, "drake"),
        ("a.dat", DRAKE.replace("\n", " "), "drake"),
        ("a.dat", SAC94, "sac94"),
        ("a.dat", SAC94 + "SMALL 1\nok\n", "sac94"),
        ("a.dat", DRAKE.replace("64", "6x"), "drake"),
        ("a.dat", QAP.replace("7", "-7"), "qaplib"),
        ("a.dat", QAP + "137\n", "qaplib"),
        ("a.dat", "2 123456789012" + QAP[1:], "qaplib"),
        ("a.dat", "2 137 137" + QAP[1:], "qaplib"),
        ("a.dat", "2 -120 137" + QAP[1:], "qaplib"),
        ("a.dat", "1 0\n5\n3\n", "qaplib"),
    ],
)
def test_a_format_is_recognised(tmp_path: Path, name: str, text: str, form: str) -> None:
    assert recognised(write(tmp_path, name, text)) == form


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [1, 2, 3, 10**6])
def test_no_knapsack_is_read_in_the_wrong_format(tmp_path: Path, seed: int, width: int) -> None:
    made = correlated_mkp(20, 3, seed)
    file = replace(made, optimum=int(made.profits.sum()) // 2)
    texts = {"drake": drake_text(file), "sac94": as_sac94(file)}
    # Lines of two or three numbers look like the beginning of one of the formats.
    for form, text in texts.items():
        path = write(tmp_path, "wrapped.dat", wrapped(text.split(), width))
        if (form, width) in (("drake", 2), ("sac94", 3)):
            with suppress(InputError):
                assert recognised(path) == form
        else:
            assert content(read_mkp(path, recognised(path))) == content(file)


def test_a_file_that_fits_two_formats_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path, "both.dat", "2 2 0 1 1 1 1 1 1 1 1")
    assert content(read_mkp(path, "drake")) == ([1, 1], [[1, 1], [1, 1]], [1, 1], None)
    assert content(read_mkp(path, "sac94")) == ([0, 1], [[1, 1], [1, 1]], [1, 1], 1)
    with pytest.raises(InputError) as caught:
        recognised(path)
    assert str(caught.value).endswith('specify the format with format="qaplib", "sac94" or "drake"')
    write(tmp_path, "both.dat", "2 2 0\n1 1\n1 1 1 1\n1 1\n")
    assert recognised(path) == "drake"
    write(tmp_path, "both.dat", "2 2\n0 1\n1 1\n1 1\n1 1\n1\n")
    assert recognised(path) == "sac94"
    write(tmp_path, "both.dat", "2 2\n0\n1 1\n1 1\n1 1\n1 1\n")
    assert recognised(path) == "drake"


def test_a_bomb_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "bomb.dat.gz"
    for text in (DRAKE + "\n" * 9_000_000, DRAKE + "1 " * 4_500_000):
        path.write_bytes(gzip.compress(text.encode()))
        with pytest.raises(InputError, match="is longer than its header allows"):
            recognised(path)


def instances(published: Path) -> Iterator[tuple[Path, str]]:
    yield from ((path, "qaplib") for path in sorted((published / "qaplib").glob("*.dat")))
    yield from ((path, "drake") for path in sorted((published / "mkp/sac94").rglob("*.dat")))
    yield from ((path, "drake") for path in sorted((published / "mkp/gk").glob("gk0[1-3].dat")))


@pytest.mark.published
def test_published_files_are_recognised_in_both_layouts(published: Path, tmp_path: Path) -> None:
    files = list(instances(published))
    assert len(files) == 125 + 54 + 3
    for path, form in files:
        assert recognised(path) == form
        if form == "qaplib":
            first, _, rest = path.read_text().partition("\n")
            for text in (f"{first} 578\n{rest}", f"{first}\n{rest}\n578\n"):
                assert recognised(write(tmp_path, "valued.dat", text)) == form
        if form == "drake":
            file = read_mkp(path, recognised(path))
            original = write(tmp_path, "original.dat", as_sac94(file))
            assert content(read_mkp(original, recognised(original))) == content(file)
