"""Pages in a real browser without a window: where their texts are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Browsers that can print the document after its scripts have run."""

# Texts of the page as boxes; a text that is hidden, or scrolls in its own box, is left out.
_SCRIPT = """
const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
const light = (colour) => {
  const parts = channels(colour).slice(0, 3).map((each) => each / 255).map(
    (each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const contrast = (view, parent) => {
  const style = view.getComputedStyle(parent);
  let behind = parent, ground = "rgb(255, 255, 255)";
  while (behind) {
    const found = channels(view.getComputedStyle(behind).backgroundColor);
    if (found.length === 3 || found[3] > 0) { ground = `rgb(${found})`; break; }
    behind = behind.parentElement;
  }
  const ink = parent.closest("svg") === null ? style.color : style.fill;
  const [low, high] = [light(ink), light(ground)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const seen = (frame) => {
  const page = frame.contentDocument, found = {texts: [], wide: []};
  for (const details of page.querySelectorAll("details")) details.open = true;
  const width = page.documentElement.clientWidth;
  if (page.documentElement.scrollWidth > width) found.wide.push(page.documentElement.scrollWidth);
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const parent = walker.currentNode.parentElement;
    if (!text || parent.closest("style, script, title, defs")) continue;
    const range = page.createRange();
    range.selectNodeContents(walker.currentNode);
    const scrolls = parent.closest(".wide") !== null;
    const picture = parent.closest("svg");
    const outer = picture === null ? null : picture.getBoundingClientRect();
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      found.texts.push({text, scrolls, contrast: contrast(frame.contentWindow, parent),
        picture: outer === null ? null : [outer.left, outer.top, outer.right, outer.bottom],
        box: [box.left, box.top, box.right, box.bottom]});
    }
  }
  return found;
};
window.addEventListener("load", () => {
  const all = [...document.querySelectorAll("iframe")].map(seen);
  document.body.textContent = JSON.stringify(all);
  document.body.dataset.done = "yes";
});
"""

_LEAST_CONTRAST = 4.5
"""The least contrast of texts in WCAG 2, level AA."""


@dataclass(frozen=True)
class Text:
    """A line of text in a page, in pixels: left, top, right and bottom."""

    text: str
    box: tuple[float, float, float, float]
    scrolls: bool
    """Whether it is in a part that scrolls sideways."""
    picture: tuple[float, float, float, float] | None
    """The box of its picture."""
    contrast: float
    """Of its colour with what is behind it: 1 is none, 21 is black on white."""

    def overlaps(self, other: Text) -> bool:
        """Return whether two texts share more than a thin strip."""
        width = min(self.box[2], other.box[2]) - max(self.box[0], other.box[0])
        height = min(self.box[3], other.box[3]) - max(self.box[1], other.box[1])
        least = min(self.box[3] - self.box[1], other.box[3] - other.box[1])
        return width > 2 and height > 0.35 * least


def browser() -> str | None:
    """Return the path of a browser, if one is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass(frozen=True)
class View:
    """A page in a window of a width, with the colours for a dark or a light background."""

    page: str
    width: int
    dark: bool = False

    def frame(self) -> str:
        """Return the page as a part of another one."""
        page = self.page
        if self.dark:
            page = page.replace("@media (prefers-color-scheme: dark)", "@media all")
        style = f"border: 0; width: {self.width}px; height: 4000px"
        return f'<iframe style="{style}" srcdoc="{escape(page)}"></iframe>'


def faults(views: Sequence[View], folder: Path) -> list[list[str]]:
    """Return the faults in the texts of each view; a browser starts slowly, so one shows all."""
    path = folder / "frames.html"
    frames = "".join(view.frame() for view in views)
    path.write_text(f"<!doctype html><body>{frames}<script>{_SCRIPT}</script></body>", "utf-8")
    line = [str(browser()), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    line += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000"]
    widest = max(view.width for view in views)
    line += [f"--window-size={max(600, widest + 40)},4100", path.as_uri()]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<body data-done="yes">(.*)</body>', done.stdout, re.DOTALL)
    assert found is not None, f"{done.stdout[:500]}\n{done.stderr[-500:]}"
    seen = json.loads(unescape(found[1]))
    return [_faults_of(each, view.width) for each, view in zip(seen, views, strict=True)]


def _faults_of(seen: dict[str, Any], width: int) -> list[str]:
    """Return the faults of what the browser has seen of one view."""
    texts = [
        Text(
            *(t["text"], tuple(t["box"]), t["scrolls"], t["picture"] and tuple(t["picture"])),
            contrast=t["contrast"],
        )
        for t in seen["texts"]
    ]
    assert texts
    return [*(f"the page is {each} wide" for each in seen["wide"]), *_faults(texts, width)]


def _faults(texts: list[Text], width: int) -> list[str]:
    wrong = []
    for place, one in enumerate(texts):
        if not one.contrast >= _LEAST_CONTRAST:
            wrong.append(f"{one.text!r} is hard to see: contrast {one.contrast:.1f}")
        if not one.scrolls and (one.box[0] < -1 or one.box[2] > width + 1):
            wrong.append(f"{one.text!r} leaves the page: {one.box}")
        if one.picture is not None:
            left, top, right, bottom = one.picture
            inside = (
                one.box[0] >= left - 2
                and one.box[1] >= top - 2
                and one.box[2] <= right + 2
                and one.box[3] <= bottom + 2
            )
            if not inside:
                wrong.append(f"{one.text!r} leaves its picture: {one.box} of {one.picture}")
        wrong += [
            f"{one.text!r} overlaps {other.text!r}"
            for other in texts[place + 1 :]
            if not (one.scrolls or other.scrolls) and one.overlaps(other)
        ]
    return wrong
