// SPDX-License-Identifier: GPL-2.0-or-later
// The panels of a page of the report: each begins as it comes into view, or if the address names it.
"use strict";
(() => {
  let ask = null;
  const begun = new Map();

  // Returns a figure's panel, which script.py has packed.
  const panelOf = (figure) => swapsim.unpacked(figure.querySelector("script").textContent).json();

  async function shown(figure) {
    const panel = await panelOf(figure);
    ask ??= swapsim.live.start(swapsim.bundle);
    const setting = swapsim.live.addressedTo(panel) ?? {};
    return swapsim.live.show(figure, panel, { ask, setting, addressed: true });
  }

  function begin(figure) {
    if (!begun.has(figure)) begun.set(figure, shown(figure));
  }

  const watcher = new IntersectionObserver(
    (seen) => seen.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => begin(target)),
    { rootMargin: "400px" },
  );
  const panels = [...document.querySelectorAll("figure.panel:has(> script)")];
  for (const figure of panels) watcher.observe(figure);

  // An address that a colleague sent leads to its panel.
  async function follow() {
    const figure = panels.find(({ id }) => id == new URLSearchParams(location.hash.slice(1)).get("panel"));
    if (!figure) return;
    if (begun.has(figure)) {
      (await begun.get(figure)).set(swapsim.live.addressedTo(await panelOf(figure)));
    } else begin(figure);
    figure.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
})();
