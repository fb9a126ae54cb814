"""Pages of tunings and of experiments: what they say, and that they need nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from checked_pages import experiment, page, plain, tuning

from islands.display.heartbeat import Work, write_work
from islands.errors import InputError
from islands.report.figure import stored_picture

MADE = {"date": "2026-01-02T03:04:05Z", "commit": "0123456789abcdef", "changed": True}
MADE |= {"command": ["reproduce", "a/b", "--only", "x y"], "driver": "580.1", "seconds": 12.3}
PRINTED = """Table 1   preset a, on a GPU

instance    our best      s/run
demo/a    2465718.00    ~12.345
demo/b           310          -

First.
~: scaled.
"""


def write_made(folder: Path, **others: object) -> None:
    (folder / "provenance.json").write_text(json.dumps(MADE | others))


@pytest.mark.slow
def test_the_page_of_a_tuning(tmp_path: Path) -> None:
    tuning(tmp_path)
    text = page(tmp_path)
    assert text.count("<svg") == 3
    words = plain(text)
    assert "1 rho=0.7 bias=rho 1.25 0.5" in words
    assert "0.031" in words
    (tmp_path / "ranking.tsv").unlink()
    assert "This tuning is not finished" in plain(page(tmp_path))


def test_the_page_of_an_experiment_has_its_printed_tables(tmp_path: Path) -> None:
    experiment(tmp_path)
    (tmp_path / "table1-parts.csv").write_text("instance,mean_runs\nzi929,2465718.25\n")
    text = page(tmp_path)
    assert text.index("<h2>table1</h2>") < text.index("<h2>table1-parts</h2>")
    assert "<td>95345.12</td>" in text
    assert ">mean runs</th>" in text
    assert "<td>2465718.25</td>" in text
    (tmp_path / "table1.txt").write_text(PRINTED)
    text = page(tmp_path)
    assert "<p>Table 1</p>\n<p>preset a, on a GPU</p>" in text
    assert "<td>2465718.00</td><td>~12.345</td>" in text
    assert "<p>First.</p>\n<p>~: scaled.</p>" in text
    assert "e+0" not in text


def test_the_page_of_an_experiment_tells_what_made_it(tmp_path: Path) -> None:
    experiment(tmp_path)
    assert "commit" not in plain(page(tmp_path))
    write_made(tmp_path, ranks=2)
    words = plain(page(tmp_path))
    assert "date 2026-01-02 commit 0123456789ab, with changes ranks 2 GPU driver 580.1" in words
    assert "islands reproduce a/b --only &#x27;x y&#x27;" in words
    (tmp_path / "provenance.json").write_text('{"date": 1}')
    with pytest.raises(InputError, match=r"provenance\.json: is damaged"):
        page(tmp_path)


def test_an_unfinished_experiment_says_so(tmp_path: Path) -> None:
    experiment(tmp_path)
    note = "This experiment is not finished"
    assert note in plain(page(tmp_path))
    write_made(tmp_path)
    assert note not in plain(page(tmp_path))
    write_work(tmp_path, Work(2, 3, "table1: demo/a, 2 of 3", ""))
    words = plain(page(tmp_path))
    assert note in words
    assert "Its last piece of work was table1: demo/a, 2 of 3." in words


def test_nothing_in_a_stored_picture_can_run_or_load_anything(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text(
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:x='http://www.w3.org/1999/xlink'"
        " onload='alert(1)'><script>alert(2)</script><style>@import 'http://b';</style>"
        "<foreignObject><p>far</p></foreignObject><image x:href='http://b'/>"
        "<use x:href='http://b#c'/><use x:href='#c'/><path id='c' d='M 0 0' style='fill:"
        " url(http://b)'/><path clip-path='url(#c)' style='fill: u\\72l(http://b)'/>"
        "<text>&lt;script&gt;</text></svg>"
    )
    text, _ = stored_picture(path)
    assert not re.search(r"alert|http|import|far|<script|<image|72l", text)
    [name] = re.findall(r'id="(\w+)"', text)
    assert f'href="#{name}"' in text
    assert f'clip-path="url(#{name})"' in text
    assert "<text>&lt;script&gt;</text>" in text


@pytest.mark.parametrize(
    "text",
    [
        "<svg",
        "<!DOCTYPE svg [<!ENTITY a 'aaaa'>]><svg>&a;</svg>",
        "<svg>" + "<g>" * 50_000 + "</g>" * 50_000 + "</svg>",
    ],
)
def test_a_damaged_picture_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(text)
    with pytest.raises(InputError, match=r"a\.svg: is damaged or cut off"):
        stored_picture(tmp_path / "a.svg")
