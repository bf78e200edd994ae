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

  // The text of a figure: a median over seeds, or its change from another one.
  function figure({ where, base, unit, digits, scale }, rows) {
    const of = (names) => {
      const found = rows.filter((row) => Object.entries(names).every(([name, is]) => row[name] === is));
      const values = found.map((row) => row.value).filter((value) => value != null);
      return values.length ? middle(values) : null;
    };
    const value = of(where);
    if (value == null) return "none";
    if (!base) return `${(value * scale).toFixed(digits)} ${unit}`.trim();
    const from = of({ ...where, ...base });
    if (!from) return "none";
    const change = (100 * (value / from - 1)).toFixed(digits).replace(/^-(?=[0.]+$)/, "");
    return `${change.startsWith("-") ? "" : "+"}${change} ${unit}`.trim();
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

  function asPython(panel, setting) {
    const lines = [panel.head.replace("{model}", panel.model)];
    for (const [labels, { costs, ...fields }] of swapsim.configs.of(panel, setting, 1)) {
      const named = Object.values(labels).join(", ");
      if (named) lines.push(`# ${named}`);
      const given = Object.entries(fields)
        .filter(([name, value]) => JSON.stringify(panel.defaults[name]) !== JSON.stringify(value))
        .map(([name, value]) => `${name}=${name == "seed" ? value : python(value)}`);
      lines.push(panel.call.replace("{model}", panel.model)
        .replace("{fields}", given.join(", ")).replace("{costs}", python(costs ?? {})));
    }
    return lines.join("\n");
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
        return { error: message };
      }
    };
  }

  // Shows a panel in an element. `saved` is called with each complete setting, figures and picture.
  function show(root, panel, { ask, setting: given = {}, addressed = false, saved = () => {} }) {
    const { model, base, sets, cases, columns, seeded, unmet } = panel;
    const run = { model, base, sets, cases, columns, seeded, unmet }; // what the worker needs of it
    let setting = { ...panel.first, ...given };
    let asked = 0; // the number of the newest setting
    let shown = { number: -1, rows: [] }; // what is drawn
    let busy = false, turnedAt = 0, view = null, seed = 0, wake = () => {};

    const place = element("div", { className: "alive" });
    const said = element("ul", { className: "figures" });
    const status = element("div", { role: "status", className: "said" }, said);
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
    const back = element("button", { type: "button", onclick: () => set(panel.first) }, "Back to the first setting");
    const copy = element("button", { type: "button", onclick: copied }, "Copy as Python");
    controls.append(element("p", {}, back, " ", copy));
    const more = element("details", {}, element("summary", {}, "This setting in Python"), code);
    root.append(controls, place, status, element("p", { className: "caption" }, panel.limits), more);

    function label(control, text) {
      const { input, value } = inputs[control.name];
      if (!control.choice) value.textContent = /^\d{5,}$/.test(text) ? (+text).toLocaleString("en") : text;
      input.setAttribute("aria-valuetext", text);
    }
    function turn(name, value) { set({ ...setting, [name]: value }); }
    function set(chosen, from = performance.now()) {
      setting = chosen;
      turnedAt = from;
      for (const [name, { control, input }] of Object.entries(inputs)) {
        input.value = control.choice ? setting[name] : control.values.indexOf(setting[name]);
        label(control, setting[name]);
      }
      asked++;
      seed = 0;
      if (addressed) address();
      wake();
      if (!busy) next();
    }
    function address() {
      const changed = Object.entries(setting).filter(([name, value]) => value != panel.first[name]);
      const hash = new URLSearchParams({ panel: panel.name, ...Object.fromEntries(changed) });
      history.replaceState(null, "", changed.length ? `#${hash}` : location.pathname + location.search);
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
      play(shown);
    }
    const texts = () => figures(panel, shown.rows);

    const charted = () => ({
      ...panel.chart, datasets: { ...panel.chart.datasets, [panel.rowsName]: shown.rows },
    });
    async function redraw(since) {
      await draw();
      await view.data(panel.rowsName, shown.rows).runAsync();
      if (since) performance.measure(`panel ${panel.name}`, { start: since });
      said.replaceChildren(...texts().map((text) => element("li", {}, text)));
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
        const { paddingLeft, paddingRight } = getComputedStyle(root);
        const room = Math.max(200, width - parseFloat(paddingLeft) - parseFloat(paddingRight));
        const made = await swapsim.drawFitted(place, charted(), room, true);
        view = made.view;
        Object.assign(root.dataset, { natural: made.natural, room: width });
      });
      return drawing;
    }
    new ResizeObserver(() => view && draw()).observe(root);
    set(setting);
    return { set: (chosen) => set({ ...panel.first, ...chosen }), get setting() { return setting; } };
  }

  // The setting of a panel in the address, as far as it has such controls and values.
  function addressedTo(panel) {
    const given = new URLSearchParams(location.hash.slice(1));
    if (given.get("panel") != panel.name) return null;
    const known = panel.controls.filter(({ name, values }) => values.includes(given.get(name)));
    return Object.fromEntries(known.map(({ name }) => [name, given.get(name)]));
  }

  return { start, show, addressedTo, figures, asPython };
})();
