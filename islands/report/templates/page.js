// Show values at the pointer in the figures of a page, and zoom into the figures.
"use strict";
const MOST = 17, SMALLEST = 6;  // maximum lines of values; minimum side of a part to magnify
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
const number = (value) => value === null ? "-" : value.toLocaleString("en",
  {maximumSignificantDigits: Number.isInteger(value) ? 16 : 5});
const line = (text, colour) => {
  const row = document.createElement("div");
  if (colour) {
    row.append(document.createElement("i"));
    row.firstChild.style.background = colour;
  }
  row.append(text);
  return row;
};
// The last point at or before the pointer.
const before = (places, x) => places.findLastIndex((place) => place <= x + 0.01);
for (const picture of document.querySelectorAll("figure svg")) {
  const home = picture.getAttribute("viewBox"), [, , width, height] = home.split(" ").map(Number);
  const panels = JSON.parse(picture.dataset.panels || "[]");
  const mark = document.createElementNS(picture.namespaceURI, "rect");
  mark.setAttribute("class", "mark");
  let from = null;
  const place = (event) => new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(picture.getScreenCTM().inverse());
  const show = (x, y, w, h) => {
    Object.entries({x, y, width: w, height: h}).forEach((entry) => mark.setAttribute(...entry));
    picture.append(mark);
  };
  const hide = () => { mark.remove(); tip.hidden = true; };
  const part = (to) => [Math.min(from.x, to.x), Math.min(from.y, to.y),
    Math.abs(from.x - to.x), Math.abs(from.y - to.y)];
  picture.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    event.preventDefault();
    from = place(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (from !== null) { tip.hidden = true; show(...part(at)); return; }
    const panel = panels.find(({box: [left, top, right, bottom]}) =>
      left <= at.x && at.x <= right && top <= at.y && at.y <= bottom);
    if (panel === undefined) { hide(); return; }
    const rows = [];
    for (const {places, x, lines} of panel.groups) {
      const nth = before(places, at.x);
      if (nth < 0) continue;
      rows.push(line(`${panel.label} ${number(x[nth])}`));
      for (const {name, colour, y} of lines) rows.push(line(`${name}: ${number(y[nth])}`, colour));
    }
    if (rows.length === 0) { hide(); return; }
    if (rows.length > MOST) rows.splice(MOST, rows.length, line("..."));
    tip.replaceChildren(...rows);
    tip.hidden = false;
    const edge = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${window.scrollX + Math.max(0, Math.min(event.clientX + 14, edge))}px`;
    tip.style.top = `${window.scrollY + event.clientY + 14}px`;
    show(at.x, panel.box[1], 0.1, panel.box[3] - panel.box[1]);
  });
  picture.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [x, y, w, h] = part(place(event));
    from = null;
    hide();
    if (w < SMALLEST || h < SMALLEST) return;
    const scale = Math.max(w / width, h / height);  // the picture keeps its shape
    const view = [x + w / 2 - width * scale / 2, y + h / 2 - height * scale / 2];
    picture.setAttribute("viewBox", [...view, width * scale, height * scale].join(" "));
  });
  picture.addEventListener("pointerleave", () => { if (from === null) hide(); });
  picture.addEventListener("pointercancel", () => { from = null; hide(); });
  picture.addEventListener("dblclick", () => picture.setAttribute("viewBox", home));
}
