"""Pages of tunings and of experiments: what they say, and that they need nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checked_pages import experiment, page

from islands.errors import InputError
from islands.report.figure import stored_picture

PRINTED = """Table 1   preset a, on a GPU

instance    our best      s/run
demo/a    2465718.00    ~12.345
demo/b           310          -

First.
~: scaled.
"""


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
