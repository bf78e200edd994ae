// SPDX-License-Identifier: GPL-2.0-or-later
// The panels of a page of the report: each begins as it comes into view, with what the address turns.
"use strict";
(() => {
  // The address, as #panel=tags&writers=16&panel=locks&hold=200: the panel turned last is first.
  function parts() {
    const found = [];
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      if (name == "panel") found.push([["panel", value]]);
      else found.at(-1)?.push([name, value]);
    }
    return found;
  }

  function written(panel, setting) {
    const turned = Object.entries(setting).filter(([name, value]) => value != panel.first[name]);
    const others = parts().filter(([[, name]]) => name != panel.name);
    const all = turned.length ? [[["panel", panel.name], ...turned], ...others] : others;
    const hash = new URLSearchParams(all.flat());
    history.replaceState(null, "", all.length ? `#${hash}` : location.pathname + location.search);
  }

  let ask = null;
  async function begin(figure) {
    try {
      const panel = await swapsim.unpacked(figure.querySelector("script").textContent).json();
      ask ??= swapsim.live.start(swapsim.bundle);
      const turned = Object.fromEntries(parts().find(([[, name]]) => name == panel.name)?.slice(1) ?? []);
      const known = panel.controls.filter(({ name, values }) => values.includes(turned[name]));
      const setting = Object.fromEntries(known.map(({ name }) => [name, turned[name]]));
      swapsim.live.show(figure, panel, { ask, setting, chosen: (all) => written(panel, all) });
    } catch ({ message }) { // the picture and the figures stay
      figure.querySelector(".counted").textContent = `the model cannot run in this page: ${message}`;
    }
  }

  const watcher = new IntersectionObserver((seen) => {
    for (const { target } of seen.filter(({ isIntersecting }) => isIntersecting)) {
      watcher.unobserve(target);
      begin(target);
    }
  }, { rootMargin: "400px" });
  for (const figure of document.querySelectorAll("figure.panel:has(> script)")) watcher.observe(figure);
  document.getElementById(parts()[0]?.[0][1])?.scrollIntoView();
  addEventListener("hashchange", () => { if (parts().length) location.reload(); }); // it was pasted
})();
