"use strict";

// The picture of a neighbourhood: move, zoom, drag its boxes, and go from item to item by mouse or keyboard.
// The server has drawn it; without this script it is a picture whose boxes are links.
(() => {
  const STEP = 1.25;
  const NEAREST = 200; // units, of which a box has 220
  const FARTHEST = 2; // times the whole
  const DRAG = 4; // pixels; less is a click
  const FACING = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  const picture = document.querySelector(".picture");
  if (!picture) return;
  const canvas = picture.querySelector(".canvas");
  const svg = canvas.querySelector("svg");
  const chosen = picture.querySelector(".chosen");

  const items = new Map();
  for (const link of svg.querySelectorAll("a")) {
    const group = link.querySelector(".item");
    const rect = group.querySelector("rect");
    const size = { w: +rect.getAttribute("width"), h: +rect.getAttribute("height") };
    const at = { x: +rect.getAttribute("x"), y: +rect.getAttribute("y") };
    items.set(group.dataset.uid, { uid: group.dataset.uid, link, group, size, home: at, at: { ...at }, edges: [] });
  }
  const edges = [...svg.querySelectorAll(".edge")].map((group) => {
    const edge = { group, source: items.get(group.dataset.source), target: items.get(group.dataset.target) };
    edge.source.edges.push(edge);
    edge.target.edges.push(edge);
    return edge;
  });

  // What is looked at.
  const whole = svg.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
  let view = { ...all };

  function look(next) {
    view = next;
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  }

  function zoom(factor, middle = { x: view.x + view.w / 2, y: view.y + view.h / 2 }) {
    const w = Math.min(Math.max(all.w, canvas.clientWidth) * FARTHEST, Math.max(NEAREST, view.w * factor));
    const by = w / view.w;
    look({ x: middle.x - (middle.x - view.x) * by, y: middle.y - (middle.y - view.y) * by, w, h: view.h * by });
  }

  function place(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return { x: at.x, y: at.y };
  }

  function show(item) {
    const { x, y } = item.at;
    const left = Math.min(view.x, x), top = Math.min(view.y, y);
    const right = Math.max(0, x + item.size.w - view.x - view.w), bottom = Math.max(0, y + item.size.h - view.y - view.h);
    if (left < view.x || top < view.y || right || bottom) look({ ...view, x: left + right, y: top + bottom });
  }

  // Boxes and lines.
  const middle = (item) => ({ x: item.at.x + item.size.w / 2, y: item.at.y + item.size.h / 2 });

  function border(item, towards) {
    const from = middle(item);
    const dx = towards.x - from.x, dy = towards.y - from.y;
    const part = Math.min(item.size.w / 2 / Math.abs(dx || 1e-9), item.size.h / 2 / Math.abs(dy || 1e-9));
    return { x: from.x + dx * Math.min(1, part), y: from.y + dy * Math.min(1, part) };
  }

  function redraw(edge) {
    const from = border(edge.source, middle(edge.target)), to = border(edge.target, middle(edge.source));
    const line = edge.group.querySelector("line"), label = edge.group.querySelector("text");
    for (const [name, value] of [["x1", from.x], ["y1", from.y], ["x2", to.x], ["y2", to.y]]) line.setAttribute(name, value);
    label.setAttribute("x", (from.x + to.x) / 2);
    label.setAttribute("y", (from.y + to.y) / 2 - 4);
  }

  function move(item, at) {
    item.at = at;
    item.group.setAttribute("transform", `translate(${at.x - item.home.x} ${at.y - item.home.y})`);
    item.edges.forEach(redraw);
  }

  // The item that is chosen: its edges are lit, and what it says stands below.
  function choose(item) {
    const near = new Set(item ? [item, ...item.edges.flatMap((edge) => [edge.source, edge.target])] : items.values());
    for (const one of items.values()) one.group.classList.toggle("dim", !near.has(one));
    for (const edge of edges) {
      const lit = item !== null && (edge.source === item || edge.target === item);
      edge.group.classList.toggle("lit", lit);
      edge.group.classList.toggle("dim", item !== null && !lit);
      const row = document.querySelector(`tr[data-edge="${CSS.escape(edge.group.dataset.edge)}"]`);
      if (row) row.classList.toggle("lit", lit);
    }
    chosen.hidden = item === null;
    chosen.textContent = item ? item.group.querySelector("title").textContent : "";
  }

  function neighbour(item, [dx, dy]) {
    const from = middle(item);
    let best = null, least = Infinity;
    for (const other of items.values()) {
      const to = middle(other);
      const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
      const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
      if (other !== item && along > 1 && along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    }
    return best;
  }

  const focused = () => [...items.values()].find((item) => item.link === document.activeElement) ?? null;

  for (const item of items.values()) {
    item.link.addEventListener("focus", () => {
      choose(item);
      show(item);
    });
    item.link.addEventListener("blur", () => choose(null));
    item.link.addEventListener("mouseenter", () => choose(item));
    item.link.addEventListener("mouseleave", () => choose(focused()));
    item.link.addEventListener("keydown", (event) => {
      const facing = FACING[event.key];
      if (!facing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      if (event.shiftKey) {
        move(item, { x: item.at.x + facing[0] * 20, y: item.at.y + facing[1] * 20 });
      } else {
        neighbour(item, facing)?.link.focus({ preventScroll: true });
      }
    });
  }

  // The mouse: a box is dragged, the paper is moved, the wheel zooms.
  let held = null;
  let dragged = false;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    dragged = false;
    const group = event.target.closest(".item");
    const item = group ? items.get(group.dataset.uid) : null;
    held = { item, at: item ? { ...item.at } : { ...view }, from: place(event), screen: event, moved: false };
  });

  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    if (!held.moved && Math.hypot(event.clientX - held.screen.clientX, event.clientY - held.screen.clientY) < DRAG) return;
    held.moved = true;
    canvas.classList.add("held");
    const to = place(event);
    if (held.item) {
      move(held.item, { x: held.at.x + to.x - held.from.x, y: held.at.y + to.y - held.from.y });
    } else {
      look({ ...view, x: view.x - (to.x - held.from.x), y: view.y - (to.y - held.from.y) });
    }
  });

  window.addEventListener("pointerup", () => {
    canvas.classList.remove("held");
    dragged = held?.moved ?? false;
    held = null;
  });

  // A box that was dragged is not opened; a click by a key has no detail.
  canvas.addEventListener("click", (event) => dragged && event.detail > 0 && event.preventDefault(), { capture: true });
  canvas.addEventListener("dragstart", (event) => event.preventDefault());
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !canvas.contains(document.activeElement)) return; // the page is scrolled past it
      event.preventDefault();
      zoom(event.deltaY > 0 ? STEP : 1 / STEP, place(event));
    },
    { passive: false },
  );

  // Buttons, and the same by keys.
  const tools = { in: () => zoom(1 / STEP), out: () => zoom(STEP), all: () => look({ ...all }) };
  for (const button of picture.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", tools[button.dataset.zoom]);
  }
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tool = { "+": "in", "=": "in", "-": "out", 0: "all" }[event.key];
    const facing = event.target === canvas && FACING[event.key];
    if (!tool && !facing) return;
    event.preventDefault();
    if (tool) tools[tool]();
    else look({ ...view, x: view.x + (facing[0] * view.w) / 10, y: view.y + (facing[1] * view.h) / 10 });
  });

  // At first boxes are as large as they were drawn; what has no room lies beside the item in the middle.
  function lookFirst() {
    const { clientWidth: w, clientHeight: h } = canvas;
    if (all.w <= w && all.h <= h) {
      look({ x: all.x - (w - all.w) / 2, y: all.y - (h - all.h) / 2, w, h });
    } else {
      const [asked] = items.values();
      look({ x: all.x, y: middle(asked).y - h / 2, w, h });
    }
  }

  picture.querySelector(".tools").hidden = false;
  picture.classList.add("live");
  lookFirst();
})();
