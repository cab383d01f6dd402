"use strict";

// The explorer: draws the graph that stands in the page, and widens it by the graphs of other items' pages.
(() => {
  const root = document.querySelector(".explorer");
  const stage = root.querySelector(".stage");
  const about = root.querySelector(".about");
  const form = root.querySelector("form");
  const listed = root.querySelector(".listed");
  const first = JSON.parse(root.dataset.graph);
  const FACING = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const ARROWS_FROM = 0.3; // nearer: further away an arrow has two pixels, and all of them a third of the time of a drawing
  const OF_TYPE = { CAUSES: "causes", BLOCKS: "blocks", ENABLES: "enables", RELATES_TO: "relates" };
  const OF_KIND = { memory: "more", fact: "accent", message: "soft" };
  const labelled = (edge) => edge.data("type") + (edge.data("confidence") === undefined ? "" : ` ${edge.data("confidence").toFixed(2)}`);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const cy = cytoscape({
    container: stage,
    maxZoom: 3,
    minZoom: 0.05,
    style: [
      {
        selector: "node",
        style: {
          label: "data(name)", shape: "round-rectangle", width: 150, height: 44, "text-wrap": "wrap",
          "text-max-width": "140px", "text-valign": "center", "font-size": 11, "min-zoomed-font-size": 4, "background-color": colour("card"),
          color: colour("ink"), "border-width": 1.5, "border-color": (node) => colour(OF_KIND[node.data("kind")] || "relates"),
        },
      },
      { selector: "node.start", style: { "border-width": 4, "border-style": "double", "font-weight": 700 } },
      { selector: "node:selected", style: { "border-color": colour("accent"), "border-width": 4 } },
      {
        selector: "edge",
        style: {
          "curve-style": "bezier", width: 1.5, "font-size": 9, "text-rotation": "autorotate", "text-background-opacity": 1,
          "text-background-color": colour("paper"), color: colour("ink"), "min-zoomed-font-size": 7,
          label: labelled,
          "line-color": (edge) => colour(OF_TYPE[edge.data("type")] || "line"),
          "target-arrow-color": (edge) => colour(OF_TYPE[edge.data("type")] || "line"),
          "target-arrow-shape": (edge) => (edge.data("type") === "RELATES_TO" ? "none" : "triangle"),
        },
      },
      { selector: "edge.quiet", style: { label: "" } },
      { selector: "edge.far", style: { "target-arrow-shape": "none" } },
      { selector: "edge[state = 'proposed']", style: { "line-style": "dashed" } },
      { selector: "edge:selected", style: { width: 4, label: labelled } },
      { selector: ".hidden", style: { display: "none" } },
    ],
  });

  // Months of the items, for the sliders and the histogram.
  const month = (node) => (node.data("at") || "").slice(0, 7);
  let months = [];

  function drawMonths() {
    const whole = +form.to.value === Math.max(0, months.length - 1) && +form.from.value === 0;
    const kept = [months[+form.from.value], months[+form.to.value]];
    months = [...new Set(cy.nodes().map(month).filter(Boolean))].sort();
    form.from.max = form.to.max = Math.max(0, months.length - 1);
    form.from.value = whole ? 0 : Math.max(0, months.indexOf(kept[0]));
    form.to.value = whole ? months.length - 1 : Math.max(0, months.indexOf(kept[1]));
    const counts = months.map((one) => cy.nodes().filter((node) => month(node) === one).length);
    const wide = 240 / Math.max(1, months.length);
    root.querySelector(".months").replaceChildren(
      ...counts.map((count, index) => {
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        const high = Math.max(2, (30 * count) / Math.max(...counts));
        for (const [name, value] of Object.entries({ x: index * wide, y: 32 - high, width: wide * 0.8, height: high })) bar.setAttribute(name, value);
        return bar;
      }),
    );
  }

  function filter() {
    const types = new Set([...form.querySelectorAll("[name=type]:checked")].map((box) => box.value));
    const [from, to] = [months[+form.from.value] || "", months[+form.to.value] || "9999"];
    root.querySelector("output").textContent = months.length ? `${from} – ${to}` : "";
    cy.batch(() => {
      cy.nodes().forEach((node) => {
        const at = month(node);
        node.toggleClass("hidden", node.id() !== first.center && at !== "" && (at < from || at > to));
      });
      cy.edges().forEach((edge) => {
        edge.toggleClass("hidden", !types.has(edge.data("type")) || (edge.data("state") === "proposed" && !form.proposed.checked));
      });
    });
    list();
    drawPeriods();
  }

  // A line for each fact that is shown, from when it began to hold to when it ended, or to the right edge.
  function drawPeriods() {
    const facts = cy.nodes("[kind = 'fact'][at]").not(".hidden").toArray().sort((a, b) => (a.data("at") < b.data("at") ? -1 : 1));
    const section = root.querySelector(".periods");
    section.hidden = facts.length === 0;
    if (section.hidden) return;
    const ends = facts.map((fact) => Date.parse(fact.data("until") || fact.data("at")));
    const begin = Date.parse(facts[0].data("at")), last = Math.max(Date.now(), ...ends);
    const place = (time) => (100 * (time - begin)) / Math.max(1, last - begin);
    section.querySelector("tbody").replaceChildren(...facts.map((fact) => {
      const { name, at, until } = fact.data();
      const [row, head, cell, span, button] = ["tr", "th", "td", "td", "button"].map((tag) => document.createElement(tag));
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      for (const [key, value] of Object.entries({ class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(key, value);
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const from = place(Date.parse(at)), wide = Math.max(1, place(until ? Date.parse(until) : last) - from);
      for (const [key, value] of Object.entries({ class: "part", x: Math.min(from, 99), width: wide, height: 8 })) bar.setAttribute(key, value);
      svg.append(bar);
      cell.append(svg);
      head.scope = "row";
      button.type = "button";
      button.className = "quiet small";
      button.textContent = name;
      button.addEventListener("click", () => choose(fact));
      head.append(button);
      span.className = "number";
      span.textContent = `${at.slice(0, 10)} – ${until ? until.slice(0, 10) : ""}`;
      row.append(head, cell, span);
      return row;
    }));
  }

  function list() {
    listed.replaceChildren(
      ...cy.nodes().not(".hidden").map((node) => {
        const link = document.createElement("a");
        link.href = node.data("href");
        link.textContent = node.data("name");
        const entry = document.createElement("li");
        entry.append(link);
        return entry;
      }),
    );
  }

  function arrange() {
    const layered = form.layout.value === "breadthfirst";
    const rounds = Math.max(100, Math.min(1000, Math.round(60000 / cy.nodes().length))); // each takes the square of their number
    cy.elements().not(".hidden").layout({
      name: form.layout.value, fit: true, padding: 20, animate: false, nodeDimensionsIncludeLabels: true,
      ...(layered ? { roots: [first.center], directed: false, spacingFactor: 1.1 } : { idealEdgeLength: () => 110, nodeRepulsion: () => 60000, gravity: 1, randomize: false, numIter: rounds }),
    }).run();
    if (!layered) spread();
    separate();
    quieten();
    fit();
  }

  // Forces know no window: the graph takes its proportions, and five times the room of the boxes themselves.
  function spread() {
    const shown = cy.nodes().not(".hidden"), box = shown.boundingBox({ includeLabels: false });
    const room = 5 * 150 * 44 * shown.length, sides = stage.clientWidth / Math.max(1, stage.clientHeight);
    const [wide, high] = [Math.sqrt(room * sides) / Math.max(1, box.w), Math.sqrt(room / sides) / Math.max(1, box.h)];
    shown.positions((node) => ({ x: (node.position("x") - box.x1) * wide, y: (node.position("y") - box.y1) * high }));
  }

  // Boxes have 150 by 44 units; those that overlap move apart, the shorter way.
  function separate() {
    const shown = cy.nodes().not(".hidden").toArray();
    const at = shown.map((node) => ({ ...node.position() }));
    for (let round = 0, moved = true; moved && round < 60; round += 1) {
      moved = false;
      for (let i = 0; i < at.length; i += 1) {
        for (let j = i + 1; j < at.length; j += 1) {
          const x = at[j].x - at[i].x, y = at[j].y - at[i].y;
          const wide = 170 - Math.abs(x), high = 64 - Math.abs(y);
          if (wide <= 0 || high <= 0) continue;
          const [axis, by] = wide < high ? ["x", (wide / 2) * (x < 0 ? -1 : 1)] : ["y", (high / 2) * (y < 0 ? -1 : 1)];
          at[i][axis] -= by;
          at[j][axis] += by;
          moved = true;
        }
      }
    }
    cy.batch(() => shown.forEach((node, index) => node.position(at[index])));
  }

  const middle = (edge) => {
    const [a, b] = [edge.source().position(), edge.target().position()], { x, y } = edge.midpoint();
    const far = Math.hypot(b.x - a.x, b.y - a.y) || 1, along = Math.abs(b.x - a.x) / far, across = Math.abs(b.y - a.y) / far;
    const long = labelled(edge).length * 5.6 + 4;
    return { x, y, wide: (long * along + 13 * across) / 2, high: (long * across + 13 * along) / 2 };
  };

  // A label that would touch a box is left out; it stands at the side when its edge is chosen. `edges`: those that moved.
  function quieten(edges = cy.edges()) {
    const boxes = cy.nodes().not(".hidden").map((node) => node.position());
    const taken = edges.length === cy.edges().length ? [] : cy.edges().not(edges).not(".hidden").not(".quiet").map(middle);
    cy.batch(() => edges.not(".hidden").forEach((edge) => {
      const label = middle(edge), { x, y, wide, high } = label;
      const touches = boxes.some((box) => Math.abs(box.x - x) < 76 + wide && Math.abs(box.y - y) < 23 + high) ||
        taken.some((other) => Math.abs(other.x - x) < other.wide + wide && Math.abs(other.y - y) < other.high + high);
      edge.toggleClass("quiet", touches);
      if (!touches) taken.push(label);
    }));
  }

  function add(graph) {
    const fresh = graph.nodes.filter((node) => cy.getElementById(node.id).empty());
    const around = cy.getElementById(graph.center).nonempty() ? cy.getElementById(graph.center).position() : { x: 0, y: 0 };
    cy.add(fresh.map((data, index) => ({
      group: "nodes", data, classes: data.id === first.center ? "start" : "",
      position: { x: around.x + 180 * Math.cos(index * 2.4), y: around.y + 120 * Math.sin(index * 2.4) },
    })));
    for (const node of graph.nodes) {
      const known = cy.getElementById(node.id);
      for (const name of ["text", "at", "until"]) if (node[name] && !known.data(name)) known.data(name, node[name]);
    }
    cy.add(graph.edges.filter((edge) => cy.getElementById(edge.id).empty()).map((data) => ({ group: "edges", data })));
    drawMonths();
    filter();
    arrange();
  }

  async function expand(node) {
    const address = root.dataset.address.replace("UID", encodeURIComponent(node.id()));
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const other = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".explorer");
    if (other) add(JSON.parse(other.dataset.graph));
    choose(node);
  }

  // What is chosen, in words.
  function paragraph(text, tag = "p") {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  function choose(element) {
    cy.elements().unselect();
    element.select();
    const data = element.data();
    const link = document.createElement("a");
    link.textContent = element.isNode() ? data.name : data.type;
    if (data.href) link.href = data.href;
    const head = document.createElement("h2");
    head.append(link);
    const span = [data.at, data.until].filter(Boolean).map((time) => time.slice(0, 10)).join(" – ");
    const said = element.isNode()
      ? [[data.kind, data.type, span].filter(Boolean).join(" · "), data.text]
      : [`${element.source().data("name")} → ${element.target().data("name")}`, data.reason,
        data.source_quote && `${element.source().data("name")}: “${data.source_quote}”`,
        data.target_quote && `${element.target().data("name")}: “${data.target_quote}”`];
    about.replaceChildren(head, ...said.filter(Boolean).map((text) => paragraph(text)));
    root.querySelector("[data-do=expand]").disabled = !element.isNode();
  }

  const chosen = () => cy.nodes(":selected").first();

  function neighbour([dx, dy]) {
    const from = chosen().nonempty() ? chosen() : cy.getElementById(first.center);
    let best = null, least = Infinity;
    for (const other of cy.nodes().not(".hidden").toArray()) {
      const x = other.position("x") - from.position("x"), y = other.position("y") - from.position("y");
      const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (along > 1 && along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    }
    if (best) {
      choose(best);
      cy.animate({ center: { eles: best }, duration: still ? 0 : 120 });
    }
  }

  const zoom = (by) => cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  const fit = () => cy.fit(cy.elements().not(".hidden"), 20);
  cy.on("tap", "node, edge", (event) => choose(event.target));
  cy.on("grab", "node", (event) => event.target.connectedEdges().addClass("quiet"));
  cy.on("free", "node", (event) => quieten(event.target.connectedEdges()));
  cy.on("zoom", () => cy.batch(() => cy.edges().toggleClass("far", cy.zoom() < ARROWS_FROM)));
  cy.on("dbltap", "node", (event) => expand(event.target));
  stage.addEventListener("focus", () => chosen().empty() && choose(cy.getElementById(first.center)));
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit,
      Enter: () => chosen().nonempty() && expand(chosen()),
    }[event.key] || (FACING[event.key] && (() => neighbour(FACING[event.key])));
    if (!act) return;
    event.preventDefault();
    act();
  });

  // What is shown, as files.
  function svg() {
    const drawn = cy.elements().not(".hidden"), box = drawn.boundingBox();
    const tag = (name, attributes, text = "") => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.textContent = text;
      return made;
    };
    const page = tag("svg", { viewBox: `${box.x1} ${box.y1} ${box.w} ${box.h}`, width: box.w, height: box.h, "font-family": "sans-serif", "font-size": 10 });
    for (const edge of drawn.edges().toArray()) {
      const [a, b] = [edge.sourceEndpoint(), edge.targetEndpoint()];
      const dashes = edge.data("state") === "proposed" ? { "stroke-dasharray": "5 4" } : {};
      page.append(tag("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, stroke: edge.style("line-color"), ...dashes }));
      page.append(tag("text", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, "text-anchor": "middle" }, edge.style("label")));
    }
    for (const node of drawn.nodes().toArray()) {
      const { x, y } = node.position();
      page.append(tag("rect", { x: x - 75, y: y - 22, width: 150, height: 44, rx: 6, fill: "#f5f7f9", stroke: node.style("border-color") }));
      page.append(tag("text", { x, y: y + 4, "text-anchor": "middle" }, node.data("name").slice(0, 28)));
    }
    return new Blob([new XMLSerializer().serializeToString(page)], { type: "image/svg+xml" });
  }

  function csv() {
    const cell = (value) => `"${String(value ?? "").replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`;
    const names = ["source", "type", "target", "state", "confidence", "source_quote", "target_quote", "reason"];
    const rows = cy.edges().not(".hidden").map((edge) => names.map((name) => cell(edge.data(name))).join(","));
    return new Blob([[names.join(","), ...rows].join("\r\n")], { type: "text/csv" });
  }

  const files = { svg, csv, png: () => cy.png({ full: true, scale: 2, bg: colour("paper"), output: "blob" }) };
  for (const button of root.querySelectorAll("[data-save]")) {
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(files[button.dataset.save]());
      link.download = `graph.${button.dataset.save}`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
  root.querySelector("[data-do=fit]").addEventListener("click", fit);
  root.querySelector("[data-do=expand]").addEventListener("click", () => expand(chosen()));
  form.addEventListener("input", (event) => (event.target === form.layout ? arrange() : filter()));
  form.addEventListener("submit", (event) => event.preventDefault());

  add(first);
  choose(cy.getElementById(first.center));
  root.classList.add("live");
  window.explorer = cy;
})();
