// SPDX-License-Identifier: GPL-2.0-or-later
// A panel in a page: controls, a chart that follows them, and figures as text. A worker computes
// what is drawn, and fitted.js draws it; panel.py explains a panel.
"use strict";
swapsim.live = (() => {
  const WORKERS = 4; // at most; each may have 256 MB
  const REST_MS = 150;

  const element = (name, fields = {}, ...inside) => {
    const made = Object.assign(document.createElement(name), fields);
    made.append(...inside);
    return made;
  };
  const middle = (values) => {
    const sorted = [...values].sort((one, other) => one - other);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  // The median over seeds of the rows that some names name; null without one.
  function medianOf(names, rows) {
    const found = rows.filter((row) => Object.entries(names).every(([name, is]) => row[name] === is));
    const values = found.map((row) => row.value).filter((value) => value != null);
    return values.length ? middle(values) : null;
  }

  // The text of a figure: a median over seeds, or its change from another one.
  function figure({ where, base, unit, digits, scale, paired, ranged }, rows) {
    const of = (part) => {
      const value = medianOf(where, part);
      if (!base) return value;
      const from = medianOf({ ...where, ...base }, part);
      return value == null || !from ? null : 100 * (value / from - 1);
    };
    const text = (value) => {
      if (value == null) return "none";
      if (!base) return `${(value * scale).toFixed(digits)} ${unit}`.trim();
      const change = value.toFixed(digits).replace(/^-(?=[0.]+$)/, "");
      return `${change.startsWith("-") ? "" : "+"}${change} ${unit}`.trim();
    };
    const seeds = [...new Set(rows.map((row) => row.seed))];
    const ofEach = seeds.map((seed) => of(rows.filter((row) => row.seed == seed)))
      .filter((value) => value != null);
    const ofAll = paired ? (ofEach.length ? middle(ofEach) : null) : of(rows);
    if (!ranged || ofEach.length < 2) return text(ofAll);
    return `${text(ofAll)} (${text(Math.min(...ofEach))} to ${text(Math.max(...ofEach))})`;
  }

  // The text below the chart, a line for each figure.
  const figures = (panel, rows) =>
    panel.figures.map((each) => `${each.label}: ${figure(each, rows)}`);

  // As Python writes it.
  const python = (value) =>
    value === true ? "True" : value === false ? "False" : value == null ? "None"
    : typeof value == "string" ? `'${value}'`
    : Array.isArray(value) ? `[${value.map(python).join(", ")}]`
    : typeof value == "object"
      ? `{${Object.entries(value).map(([name, each]) => `'${name}': ${python(each)}`).join(", ")}}`
    : String(value);

  // A script that runs the same configs in the library and prints the figures, as panel.py has it.
  function asPython(panel, setting) {
    const other = (values, defaults) => Object.entries(values)
      .filter(([name, value]) => JSON.stringify(defaults[name]) !== JSON.stringify(value));
    const seeds = { seed: "seed", seeds: "[seed]" };
    const turned = panel.controls.filter(({ name, first }) => setting[name] != first)
      .map(({ name }) => `, ${name}=${python(setting[name])}`);
    const lines = ["import polars as pl", panel.head.replaceAll("{model}", panel.model), "",
      `shown = live.panel(${python(panel.name)}${turned.join("")})`, "found = []",
      `for seed in ${python(Array.from({ length: panel.seeds }, (_, at) => at + 1))}:`];
    for (const [labels, { costs, ...fields }] of swapsim.configs.of(panel, setting, 1)) {
      const given = other(fields, { ...panel.defaults, [panel.seeded]: undefined })
        .map(([name, value]) => `${name}=${name == panel.seeded ? seeds[name] : python(value)}`);
      const call = panel.call.replaceAll("{model}", panel.model).replace("{fields}", given.join(", "))
        .replace("{costs}", python(Object.fromEntries(other(costs ?? {}, panel.defaults.costs ?? {}))));
      const columns = Object.entries(labels).map(([name, value]) => `${name}=pl.lit(${python(value)}), `);
      lines.push(`    rows = ${call}`, `    found.append(rows.with_columns(${columns.join("")}seed=seed))`);
    }
    return [...lines, 'print(*shown.figures(pl.concat(found)), sep="\\n")', ""].join("\n");
  }

  // Starts a worker with the core; its answers come in the order of the requests.
  async function started({ script, layout }, wasm) {
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    const waiting = new Map();
    let number = 0;
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)?.(data);
      waiting.delete(data.id);
    };
    worker.onerror = ({ message }) => {
      for (const answer of waiting.values()) answer({ error: message || "the model did not start" });
      waiting.clear();
    };
    const ask = (request) => new Promise((answer) => {
      waiting.set(++number, answer);
      worker.postMessage({ id: number, ...request });
    });
    const { error } = await ask({ wasm, layout });
    if (error) throw new Error(error);
    return ask;
  }

  // Workers for all panels of a page: the cases of a setting are divided among them, in order.
  function start({ wasm, code }) {
    const most = Math.min(WORKERS, navigator.hardwareConcurrency || 1);
    const workers = swapsim.unpacked(code).json()
      .then((parts) => Promise.all(Array.from({ length: most }, () => started(parts, wasm))));
    workers.catch(() => {}); // each question says it
    return async (panel, setting, seed) => {
      try {
        const size = Math.ceil(panel.cases.length / most);
        const answers = await Promise.all((await workers).map((ask, at) => {
          const cases = panel.cases.slice(at * size, (at + 1) * size);
          return cases.length ? ask({ panel: { ...panel, cases }, setting, seed }) : { rows: [] };
        }));
        const failed = answers.find(({ error }) => error);
        return failed ?? { rows: answers.flatMap(({ rows }) => rows) };
      } catch ({ message }) {
        return { error: `the model cannot run in this page: ${message}` };
      }
    };
  }

  // Shows a panel in an element, with lines on what is `unknown` of its setting. `saved` is called
  // with each complete setting, figures and picture. What the element has is shown until the first
  // result is drawn: a picture of the first setting, and in the report what panel.html.j2 has.
  function show(root, panel, { ask, setting: given = {}, unknown = [], addressed = false, saved = () => {} }) {
    const { model, base, sets, cases, columns, seeded, unmet } = panel;
    const run = { model, base, sets, cases, columns, seeded, unmet }; // what the worker needs of it
    let setting = { ...panel.first, ...given };
    let asked = 0; // the number of the newest setting
    let shown = { number: -1, rows: [] }; // what is drawn
    let busy = false, turnedAt = 0, view = null, seed = 0, wake = () => {};

    const place = element("div", { className: "alive" });
    const picture = root.querySelector("img");
    const said = element("ul", { className: "figures" }, ...root.querySelectorAll(".figures > li:not(.counted)"));
    const status = element("div", { role: "status", className: "said" }, said);
    const notes = element("p", { className: "caption", role: "status" });
    const code = element("pre", { tabIndex: 0 });
    const inputs = {};
    const controls = element("form", { className: "controls", onsubmit: () => false });
    for (const control of panel.controls) {
      const value = element("output");
      const turned = () => { turn(control.name, control.choice ? input.value : control.values[input.value]); };
      let input;
      if (control.choice) {
        input = element("select", { onchange: turned }, ...control.values.map((each) => new Option(each)));
      } else {
        input = element("input", { type: "range", min: 0, max: control.values.length - 1, step: 1 });
        input.addEventListener(control.released ? "change" : "input", turned);
        input.addEventListener("input", () => label(control, control.values[input.value]));
      }
      input.name = control.name;
      inputs[control.name] = { control, input, value };
      controls.append(element("label", {}, element("span", {}, control.label, value), input));
    }
    const back = element("button", { type: "button", onclick: () => turnedTo(panel.first) }, "Back to the first setting");
    const copy = element("button", { type: "button", onclick: copied }, "Copy as Python");
    controls.append(element("p", {}, back, " ", copy));
    const more = element("details", {}, element("summary", {}, "This setting in Python"), code);
    for (const each of root.querySelectorAll(":scope > :is(.controls, .said, .limits, details)")) each.remove();
    root.prepend(notes, controls);
    root.append(place, status, element("p", { className: "caption limits" }, panel.limits), more);

    function label(control, text) {
      const { input, value } = inputs[control.name];
      if (!control.choice) value.textContent = /^\d{5,}$/.test(text) ? (+text).toLocaleString("en") : text;
      input.setAttribute("aria-valuetext", text);
    }
    function turn(name, value) { turnedTo({ ...setting, [name]: value }); }
    function turnedTo(chosen) {
      notes.textContent = "";
      set(chosen);
      if (addressed) address(panel, chosen);
    }
    function set(chosen, from = performance.now()) {
      setting = chosen;
      root.classList.toggle("turned", Object.entries(panel.first).some(([name, is]) => setting[name] != is));
      turnedAt = from;
      for (const [name, { control, input }] of Object.entries(inputs)) {
        input.value = control.choice ? setting[name] : control.values.indexOf(setting[name]);
        label(control, setting[name]);
      }
      asked++;
      seed = 0;
      wake();
      if (!busy) next();
    }
    async function copied() {
      code.textContent = asPython(panel, setting);
      more.open = true;
      try {
        await navigator.clipboard.writeText(code.textContent);
        copy.textContent = "Copied";
      } catch { // no access to the clipboard: the text is selected
        getSelection().selectAllChildren(code);
      }
      setTimeout(() => { copy.textContent = "Copy as Python"; }, 2000);
    }

    // Only the newest setting is asked for; a result is drawn if it is newer than what is drawn.
    // The other seeds follow when the reader rests, so that they delay no turn.
    const rest = () => new Promise((done) => {
      wake = done;
      setTimeout(done, REST_MS);
    });
    async function next() {
      busy = true;
      while (seed < panel.seeds) {
        const number = asked, at = turnedAt, of = setting, now = ++seed;
        const { rows, error } = await ask(run, of, now);
        if (error) { failed(error, number); if (number == asked) break; continue; }
        if (number != shown.number) shown = { number, rows, of };
        else shown.rows = shown.rows.concat(rows);
        if (now == 1 || now == panel.seeds) await redraw(now == 1 ? at : 0);
        if (now == 1 && number == asked) await rest();
        if (number == asked && now == panel.seeds) saved({ setting: of, figures: texts(), view });
      }
      busy = false;
      if (asked > 1) play(shown); // the first setting has been shown complete, as a picture
    }
    const texts = () => figures(panel, shown.rows);

    // Says how many seeds the figures have: those of one can be far from those of all.
    function counted() {
      const seeds = new Set(shown.rows.map((row) => row.seed)).size;
      if (seeds < panel.seeds) return element("li", { className: "counted" }, `seed ${seeds} of ${panel.seeds} ...`);
      return element("li", {}, panel.seeds > 1 ? `medians of ${panel.seeds} seeds` : "exact");
    }

    const charted = () => ({
      ...panel.chart, datasets: { ...panel.chart.datasets, [panel.rowsName]: shown.rows },
    });
    async function redraw(since) {
      await draw();
      await view.data(panel.rowsName, shown.rows).runAsync();
      if (since) performance.measure(`panel ${panel.name}`, { start: since });
      said.replaceChildren(...texts().map((text) => element("li", {}, text)), counted());
      if (more.open) code.textContent = asPython(panel, shown.of);
      root.classList.add("drawn");
      root.classList.remove("failed");
    }

    // The same rows as a moving picture: those of later steps have no value yet, so that axes stay.
    // They are copied without their symbols, by which Vega would take them for those that it has.
    async function play({ rows, number }) {
      if (!panel.steps || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      const { steps, rowsName } = panel;
      const until = (end) => rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, is]) =>
          [name, name == "value" && row[steps] > end ? null : is])));
      const ends = new Set(rows.filter((row) => row.seed == 1).map((row) => row[steps]));
      for (const end of [...ends, Infinity]) {
        await new Promise(requestAnimationFrame);
        if (number != asked) return;
        await view?.data(rowsName, until(end)).runAsync();
      }
    }
    function failed(error) {
      said.replaceChildren(element("li", {}, error));
      root.classList.add("failed");
    }
    more.addEventListener("toggle", () => { code.textContent = asPython(panel, setting); });

    // Another width needs another chart; it is drawn with the rows of before.
    let width = 0, drawing = Promise.resolve();
    function draw() {
      drawing = drawing.then(async () => {
        if (view && width == root.clientWidth) return;
        width = root.clientWidth;
        place.style.minHeight = view ? "" : `${picture?.offsetHeight ?? 0}px`; // no part of the page moves
        const { paddingLeft, paddingRight } = getComputedStyle(root);
        const room = Math.max(200, width - parseFloat(paddingLeft) - parseFloat(paddingRight));
        const made = await swapsim.drawFitted(place, charted(), room, true);
        view = made.view;
        Object.assign(root.dataset, { natural: made.natural, room: width });
      });
      return drawing;
    }
    new ResizeObserver(() => view && draw()).observe(root);
    notes.textContent = unknown.join("; ");
    set(setting);
    if (root.matches(".turned")) said.replaceChildren();
    said.append(element("li", { className: "counted" }, "the model starts ..."));
    const follow = ({ setting: sent, unknown: not }) => {
      notes.textContent = not.join("; ");
      set({ ...panel.first, ...sent });
    };
    return { follow, get setting() { return setting; } };
  }

  // The parts of an address: each begins with the name of a panel, the one turned last is first.
  function parts() {
    const found = [];
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      if (name == "panel") found.push({ panel: value, turned: [] });
      else found.at(-1)?.turned.push([name, value]);
    }
    return found;
  }

  // Writes what is turned in a panel into the address, and keeps the parts of the others.
  function address(panel, setting) {
    const turned = Object.entries(setting).filter(([name, value]) => value != panel.first[name]);
    const others = parts().filter((part) => part.panel != panel.name);
    const all = turned.length ? [{ panel: panel.name, turned }, ...others] : others;
    const hash = new URLSearchParams(all.flatMap((part) => [["panel", part.panel], ...part.turned]));
    history.replaceState(null, "", all.length ? `#${hash}` : location.pathname + location.search);
  }

  // What the address sets of a panel, and lines on what it has in place of an unknown value: the
  // nearest step of a slider, or the first setting.
  function addressedTo(panel) {
    const setting = {}, unknown = [];
    for (const [name, value] of parts().find((part) => part.panel == panel.name)?.turned ?? []) {
      const control = panel.controls.find((each) => each.name == name);
      if (control?.values.includes(value)) setting[name] = value;
      else if (!control) unknown.push(`the address has ${name}=${value}, which is no knob of this panel`);
      else {
        setting[name] = nearest(control, value) ?? panel.first[name];
        unknown.push(`the address has ${name}=${value}, shown is ${name}=${setting[name]}`);
      }
    }
    return { setting, unknown };
  }

  function nearest({ choice, values }, value) {
    const distance = (each) => Math.abs(parseFloat(each) - parseFloat(value));
    const sorted = [...values].sort((one, other) => distance(one) - distance(other));
    return choice || Number.isNaN(distance(sorted[0])) ? null : sorted[0];
  }

  return { start, show, parts, addressedTo, figures, asPython };
})();
