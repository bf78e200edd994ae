// SPDX-License-Identifier: GPL-2.0-or-later
// The panels of a page of the report: each begins as it comes into view, or if the address names it.
"use strict";
(() => {
  let ask = null;
  const begun = new Map();

  function begin(figure) {
    if (begun.has(figure)) return;
    ask ??= swapsim.live.start(swapsim.bundle);
    const panel = JSON.parse(figure.querySelector("script").textContent);
    const draw = (place, chart) => drawFitted(figure, place, chart);
    const setting = swapsim.live.addressedTo(panel) ?? {};
    begun.set(figure, swapsim.live.show(figure, panel, { ask, draw, setting, addressed: true }));
  }

  const watcher = new IntersectionObserver(
    (seen) => seen.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => begin(target)),
    { rootMargin: "400px" },
  );
  const panels = [...document.querySelectorAll("figure.panel:has(> script)")];
  for (const figure of panels) watcher.observe(figure);

  // An address that a colleague sent leads to its panel.
  function follow() {
    const figure = panels.find(({ id }) => id == new URLSearchParams(location.hash.slice(1)).get("panel"));
    if (!figure) return;
    const panel = JSON.parse(figure.querySelector("script").textContent);
    if (begun.has(figure)) begun.get(figure).set(swapsim.live.addressedTo(panel));
    else begin(figure);
    figure.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
})();
