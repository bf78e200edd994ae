// SPDX-License-Identifier: GPL-2.0-or-later
// A panel in a page: controls, a chart that follows them, and figures as text. A worker computes
// what is drawn; description.py explains a panel.
"use strict";
swapsim.live = (() => {
  const WORKERS = 4; // at most; each may have 256 MB
  const REST_MS = 150;
  const NARROWEST = 300; // a view of several next to each other

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

  // The Python that returns the rows of a setting, as LivePanel.python has it.
  function python({ name, controls }, setting) {
    const turned = controls.filter((each) => setting[each.name] != each.first)
      .map((each) => `, ${each.name}='${setting[each.name]}'`);
    return `from swapsim import live\n\nlive.panel('${name}'${turned.join("")}).frame()\n`;
  }

  // Starts a worker with the core; its answers come in the order of the requests.
  async function started({ script, layout }, wasm) {
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    const waiting = [];
    worker.onmessage = ({ data }) => waiting.shift()(data);
    worker.onerror = ({ message }) => {
      for (const answer of waiting.splice(0)) answer({ error: message || "the model did not start" });
    };
    const ask = (request) => new Promise((answer) => {
      waiting.push(answer);
      worker.postMessage(request);
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

  // Draws a chart as wide as its room, and returns its view: what axes leave is for the plots.
  async function drawn(place, chart, room) {
    const spec = structuredClone(chart);
    const views = [];
    const collect = (view) => {
      views.push(view);
      for (const part of [view.layer, view.vconcat, view.concat].flatMap((each) => each ?? [])) collect(part);
    };
    collect(spec);
    if (spec.concat) spec.columns = Math.min(spec.columns, Math.max(1, Math.floor(room / NARROWEST)));
    const sized = views.filter(({ width }) => typeof width == "number");
    let plots = (spec.columns ?? 1) * Math.max(...sized.map(({ width }) => width));
    for (const { legend } of views.flatMap(({ encoding }) => Object.values(encoding ?? {}))) {
      if (legend?.columns) legend.columns = Math.max(1, Math.floor((legend.columns * room) / plots));
    }
    const embed = () => vegaEmbed(place, spec, { actions: false, renderer: "svg" });
    for (let tries = 0; tries < 2; tries++) { // a legend may be wider than the plots of the first
      await embed();
      const rest = place.querySelector("svg").viewBox.baseVal.width - plots;
      const factor = Math.max(0.2, (room - rest) / plots);
      for (const view of sized) view.width = Math.floor(view.width * factor);
      plots *= factor;
    }
    return (await embed()).view;
  }

  // Shows a panel in an element. `chosen` is called with what a reader turns, `saved` with each
  // setting that is complete. What the element has is shown until the first result is drawn: a
  // picture of the first setting, and in the report what panel.html.j2 has.
  function show(root, panel, { ask, setting: given = {}, chosen: told = () => {}, saved = () => {} }) {
    const { model, base, sets, cases, columns, seeded, unmet } = panel;
    const run = { model, base, sets, cases, columns, seeded, unmet }; // what the worker needs of it
    let setting = { ...panel.first, ...given };
    let asked = 0; // the number of the newest setting
    let shown = { number: -1, rows: [] }; // what is drawn
    let busy = false, turnedAt = 0, view = null, seed = 0, wake = () => {};

    const place = element("div", { className: "alive" });
    const said = element("ul", { className: "figures" }, ...root.querySelectorAll(".figures > li:not(.counted)"));
    const status = element("div", { role: "status", className: "said" }, said);
    const code = element("pre", { tabIndex: 0 });
    const inputs = {};
    const controls = element("form", { className: "controls", onsubmit: () => false });
    for (const control of panel.controls) {
      const value = element("output");
      let input;
      const turned = () => (control.choice ? input.value : control.values[input.value]);
      const turn = () => choose({ ...setting, [control.name]: turned() });
      if (control.choice) {
        input = element("select", { onchange: turn }, ...control.values.map((each) => new Option(each)));
      } else {
        input = element("input", { type: "range", min: 0, max: control.values.length - 1, step: 1 });
        input.addEventListener(control.released ? "change" : "input", turn);
        input.addEventListener("input", () => label(control, turned()));
      }
      input.name = control.name;
      inputs[control.name] = { control, input, value };
      controls.append(element("label", {}, element("span", {}, control.label, value), input));
    }
    const back = element("button", { type: "button", onclick: () => choose(panel.first) }, "Back to the first setting");
    controls.append(element("p", {}, back));
    const more = element("details", {}, element("summary", {}, "This setting in Python"), code);
    for (const each of root.querySelectorAll(":scope > :is(.controls, .said, .limits, details)")) each.remove();
    root.prepend(controls);
    root.append(place, status, element("p", { className: "caption limits" }, panel.limits), more);

    function label(control, text) {
      const { input, value } = inputs[control.name];
      if (!control.choice) value.textContent = /^\d{5,}$/.test(text) ? (+text).toLocaleString("en") : text;
      input.setAttribute("aria-valuetext", text);
    }
    function choose(chosen) {
      set(chosen);
      told(chosen);
    }
    function set(chosen) {
      setting = chosen;
      root.classList.toggle("turned", Object.entries(panel.first).some(([name, is]) => setting[name] != is));
      turnedAt = performance.now();
      for (const [name, { control, input }] of Object.entries(inputs)) {
        input.value = control.choice ? setting[name] : control.values.indexOf(setting[name]);
        label(control, setting[name]);
      }
      code.textContent = python(panel, setting);
      asked++;
      seed = 0;
      wake();
      if (!busy) next();
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
        if (error) { failed(error); if (number == asked) break; continue; }
        shown = { number, rows: number == shown.number ? shown.rows.concat(rows) : rows };
        if (now == 1 || now == panel.seeds) await redraw(now == 1 ? at : 0);
        if (now == 1 && number == asked) await rest();
        if (number == asked && now == panel.seeds) saved(of);
      }
      busy = false;
    }

    // Says how many seeds the figures have: those of one can be far from those of all.
    function counted() {
      const seeds = new Set(shown.rows.map((row) => row.seed)).size;
      if (seeds < panel.seeds) return element("li", { className: "counted" }, `seed ${seeds} of ${panel.seeds} ...`);
      return element("li", {}, panel.seeds > 1 ? `medians of ${panel.seeds} seeds` : "exact");
    }
    async function redraw(since) {
      await draw();
      await view.data(panel.rowsName, shown.rows).runAsync();
      if (since) performance.measure(`panel ${panel.name}`, { start: since });
      said.replaceChildren(...figures(panel, shown.rows).map((text) => element("li", {}, text)), counted());
      root.classList.add("drawn");
      root.classList.remove("failed");
    }
    function failed(error) {
      said.replaceChildren(element("li", {}, error));
      root.classList.add("failed");
    }

    // Another width needs another chart; it is drawn with the rows of before.
    let width = 0, drawing = Promise.resolve();
    function draw() {
      drawing = drawing.then(async () => {
        if (view && width == root.clientWidth) return;
        width = root.clientWidth;
        const { paddingLeft, paddingRight } = getComputedStyle(root);
        const room = Math.max(200, width - parseFloat(paddingLeft) - parseFloat(paddingRight));
        const datasets = { ...panel.chart.datasets, [panel.rowsName]: shown.rows };
        view = await drawn(place, { ...panel.chart, datasets }, room);
        Object.assign(root.dataset, { natural: Infinity, room: width });
      });
      return drawing;
    }
    new ResizeObserver(() => view && draw()).observe(root);
    set(setting);
    if (root.matches(".turned")) said.replaceChildren();
    said.append(element("li", { className: "counted" }, "the model starts ..."));
  }

  return { start, show, figures, python };
})();
