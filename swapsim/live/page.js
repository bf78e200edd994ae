// SPDX-License-Identifier: GPL-2.0-or-later
// The panels of a page of the report: each begins as it comes into view, or if the address names it.
"use strict";
(() => {
  let ask = null;
  const begun = new Map();

  // Returns a figure's panel, which script.py has packed.
  const panelOf = (figure) => swapsim.unpacked(figure.querySelector("script").textContent).json();

  async function shown(figure) {
    try {
      const panel = await panelOf(figure);
      ask ??= swapsim.live.start(swapsim.bundle);
      return swapsim.live.show(figure, panel, { ask, ...swapsim.live.addressedTo(panel), addressed: true });
    } catch ({ message }) { // the picture and the figures stay
      figure.querySelector(".counted").textContent = `the model cannot run in this page: ${message}`;
      return { follow() {} };
    }
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

  // An address that a colleague sent leads to the panel that it names first.
  const absent = document.createElement("p");
  absent.className = "caption";
  absent.role = "status";
  panels[0]?.before(absent);
  async function follow() {
    const named = swapsim.live.parts().map(({ panel }) => panel);
    const of = (name) => panels.find(({ id }) => id == name);
    absent.textContent = named.filter((name) => !of(name))
      .map((name) => `the address names the panel ${name}, which this page does not have`).join("; ");
    const found = named.map(of).filter(Boolean);
    for (const figure of found) {
      if (begun.has(figure)) (await begun.get(figure)).follow(swapsim.live.addressedTo(await panelOf(figure)));
      else begin(figure);
    }
    (found[0] ?? (named.length ? absent : null))?.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
})();
