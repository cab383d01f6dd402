"use strict";

// The keys of every page. Nothing works by keys alone: each has a link or button beside it.
(() => {
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;
  const entries = () => [...document.querySelectorAll(".hits h2 a:first-child, .hits h3 a")];

  function step(by) {
    const all = entries();
    const at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
    if (next) next.focus();
  }

  function press(selector) {
    const found = document.querySelector(selector);
    if (found) found.click();
  }

  const keys = {
    "/": () => {
      const search = document.getElementById("q");
      if (search) {
        search.focus();
        search.select();
      } else {
        press("header .brand");
      }
    },
    j: () => step(1),
    k: () => step(-1),
    a: () => press("main > section > .decision [value=accept]"),
    r: () => press("main > section > .decision [value=reject]"),
    n: () => press("a.following, a.more"),
  };

  // Copying needs a script, so the buttons show up with it.
  for (const button of document.querySelectorAll("[data-copy], [data-copy-link]")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const { copy, copyLink, copied } = button.dataset;
      await navigator.clipboard.writeText(copy || new URL(copyLink, location.href).href);
      button.textContent = copied;
      button.setAttribute("aria-live", "polite");
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
})();
