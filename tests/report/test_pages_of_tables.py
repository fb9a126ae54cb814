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


def test_the_page_of_a_tuning(tmp_path: Path) -> None:
    tuning(tmp_path)
    text = page(tmp_path)
    assert text.count("<svg") == 3
    words = plain(text)
    assert "1 rho=0.7 bias=rho 1.25 0.5" in words
    assert "0.031" in words
    (tmp_path / "ranking.tsv").unlink()
    assert "This tuning is not finished" in plain(page(tmp_path))


def test_the_page_of_a_tuning_says_what_the_terminal_says(tmp_path: Path) -> None:
    tuning(tmp_path)
    (tmp_path / "ranking.txt").write_text(
        "Rank: mean over 4 blocks.\nGap: in per cent.\n\n  Rank No\n1.25 1\n\nThe best is 1.\n"
    )
    write_made(tmp_path, metric="gap", command=["tune", "demo/tsp"])
    text = page(tmp_path)
    assert '<pre class="command">islands tune demo/tsp</pre>' in text  # its lines are wrapped
    words = plain(text)
    assert "Conclusion The best is 1." in words
    assert "Rank: mean over 4 blocks. Gap: in per cent." in words
    assert "mean rank gap std dev" in words
    assert "instances 1 their names demo/tsp configurations 1 runs of each on an" in words
    assert "device demo/tsp date 2026-01-02" in words  # the folder's invented cells
    assert "islands tune demo/tsp" in words
    assert " 0.010 " in words  # seconds


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
    headings = '<th scope="col" class="text">instance</th><th scope="col">our best</th>'
    assert f'{headings}<th scope="col">s/run</th>' in text
    assert "<td>2465718.00</td><td>~12.345</td>" in text
    assert "<p>First.</p>\n<p>~: scaled.</p>" in text
    assert "e+0" not in text


def test_a_printed_table_that_has_no_columns_stays_as_it_is(tmp_path: Path) -> None:
    experiment(tmp_path)
    (tmp_path / "table1.txt").write_text("Table 1\n\none  two\nonly <one>\n\nFirst.\n")
    assert "<pre class='wide'>one  two\nonly &lt;one&gt;</pre>" in page(tmp_path)


def test_the_page_of_an_experiment_tells_what_made_it(tmp_path: Path) -> None:
    experiment(tmp_path)
    assert "commit" not in plain(page(tmp_path))
    write_made(tmp_path, ranks=2)
    words = plain(page(tmp_path))
    assert "date 2026-01-02 commit 0123456789ab, with changes ranks 2 GPU driver 580.1" in words
    assert "time 12 s" in words
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


def test_one_page_of_several_experiments(tmp_path: Path) -> None:
    for name in ("soca2010", "xavier2019"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "settings.toml").write_text(f'what = "{name}"\n')
        (tmp_path / name / "values.csv").write_text(f"instance,length\n{name}-a,7\n")
    text = page(tmp_path)
    assert '<a href="#soca2010">' in text
    assert '<article id="xavier2019"><h1>xavier2019</h1>' in text
    assert plain(text).count("-a 7") == 2


def test_a_plot_has_the_colours_of_the_page_and_its_title_as_caption(tmp_path: Path) -> None:
    experiment(tmp_path)
    (tmp_path / "table1.svg").write_text(
        "<svg xmlns='http://www.w3.org/2000/svg' width='9pt' viewBox='0 0 9 9'><title>gap by n"
        "</title><path d='M 0 0' style='fill: #ffffff'/><text style='fill: #1a1b1d'>n</text></svg>"
    )
    text = page(tmp_path)
    assert "<img" not in text
    assert '<text style="fill: currentColor">n</text>' in text
    assert "#ffffff" not in text
    assert "<figcaption>gap by n</figcaption>" in text


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
    with pytest.raises(
        InputError, match=r"a\.svg: is damaged or cut off .*\. Remove it, or repeat"
    ):
        stored_picture(tmp_path / "a.svg")
