"use strict";
// A chart tells of the point that is nearest to the pointer, or of the one that arrow keys have come to.
for (const svg of document.querySelectorAll("svg[data-points]")) {
  const lines = JSON.parse(svg.dataset.points).filter((line) => line.length);
  if (!lines.length) continue;
  const box = svg.closest(".plot"), tip = box.querySelector(".tip"), cursor = svg.querySelector(".cursor");
  let line = 0, place = -1;

  const show = (l, p) => {
    line = l;
    place = p;
    const [x, y, text] = lines[l][p];
    cursor.setAttribute("visibility", "visible");
    cursor.querySelector("line").setAttribute("transform", `translate(${x} 0)`);
    cursor.querySelector("circle").setAttribute("transform", `translate(${x} ${y})`);
    tip.textContent = text;
    tip.hidden = false;
    const scale = svg.clientWidth / svg.viewBox.baseVal.width, room = box.clientWidth - tip.offsetWidth;
    const right = x * scale + 14, left = x * scale - tip.offsetWidth - 14;
    tip.style.left = `${Math.max(0, Math.min(right <= room ? right : left, room))}px`;
    tip.style.top = `${Math.max(0, y * scale - tip.offsetHeight - 10)}px`;
  };

  const hide = () => {
    place = -1;
    cursor.setAttribute("visibility", "hidden");
    tip.hidden = true;
  };

  const near = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = Infinity, found = [0, 0];
    lines.forEach((own, l) => own.forEach(([x, y], p) => {
      const far = (lines.length > 1 || own.length > 300) ? Math.hypot(x - at.x, y - at.y) : Math.abs(x - at.x);
      if (far < best) [best, found] = [far, [l, p]];
    }));
    show(...found);
  };

  svg.addEventListener("pointermove", near);
  svg.addEventListener("pointerdown", near);
  // A finger that is lifted leaves, and what it asked for stays: until it comes elsewhere.
  svg.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
  document.addEventListener("pointerdown", (event) => { if (!svg.contains(event.target)) hide(); });
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const last = lines[line].length - 1;
    const next = {
      ArrowRight: () => show(line, Math.min(place + 1, last)),
      ArrowLeft: () => show(line, place < 0 ? last : Math.max(place - 1, 0)),
      Home: () => show(line, 0),
      End: () => show(line, last),
      ArrowDown: () => other(1),
      ArrowUp: () => other(-1),
      Escape: hide,
    }[event.key];
    if (!next) return;
    event.preventDefault();
    next();
  });

  // The next line, at the point that is nearest to where this one was left.
  const other = (step) => {
    const to = (line + step + lines.length) % lines.length, x = place < 0 ? 0 : lines[line][place][0];
    const gaps = lines[to].map((point) => Math.abs(point[0] - x));
    show(to, gaps.indexOf(Math.min(...gaps)));
  };
}

// In a frame of a notebook the address is the notebook's, and to go to "#errors" there would leave this page.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]'), to = link && document.getElementById(link.hash.slice(1));
  if (!to || window === window.parent || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  to.scrollIntoView();
  to.focus({ preventScroll: true });
});

// On paper nothing can be opened; pages and pages of rows are left out, and the points of charts.
const MOST_ROWS_ON_PAPER = 80;
let closed = [];
addEventListener("beforeprint", () => {
  const all = [...document.querySelectorAll("section > details:not([open], .points)")];
  closed.push(...all.filter((one) => one.querySelectorAll("tr").length <= MOST_ROWS_ON_PAPER));
  closed.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => {
  closed.forEach((one) => { one.open = false; });
  closed = [];
});
