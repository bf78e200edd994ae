// SPDX-License-Identifier: GPL-2.0-or-later
// Draws a chart so that it fits its place: one that is wider is drawn for this width.

const VIEWS = ["layer", "concat", "hconcat", "vconcat"];
const DIGIT = 6.4; // pixels of a character of a label, at most

function eachView(spec, act) {
  act(spec);
  for (const part of VIEWS.flatMap((name) => spec[name] ?? [])) eachView(part, act);
  if (spec.spec) eachView(spec.spec, act);
}

function widthOf(spec) {
  const own = typeof spec.width == "number" ? spec.width : 0;
  const inside = VIEWS.flatMap((name) => spec[name] ?? []).map(widthOf);
  return Math.max(own, spec.spec ? widthOf(spec.spec) : 0, ...inside);
}

// Breaks a text into lines of at most so many characters.
function lines(text, most) {
  const made = [""];
  for (const word of [text].flat().join(" ").split(" ")) {
    const longer = `${made.at(-1)} ${word}`.trim();
    if (longer.length <= most || !made.at(-1)) made[made.length - 1] = longer;
    else made.push(word);
  }
  return made.length > 1 ? made : made[0];
}

// Panels stand below each other, as many in a row as fit.
function stacked(spec, room) {
  const fit = (width) => Math.max(1, Math.floor(room / (width + 70)));
  if (spec.hconcat) {
    // Words next to a view's rows say nothing below it.
    spec.hconcat = spec.hconcat.filter(({ mark, encoding }) =>
      (mark?.type ?? mark) != "text" || encoding.y?.axis !== null);
    spec.concat = spec.hconcat;
    spec.columns = spec.concat.length;
    delete spec.hconcat;
  }
  if (spec.concat) spec.columns = Math.min(spec.columns ?? 9, fit(widthOf(spec)));
  for (const [at, inside] of [[spec, spec.spec], [spec.encoding ?? {}, spec]]) {
    const faceted = at == spec ? spec.facet : at;
    if (!faceted || (at == spec && !inside)) continue;
    const columns = fit(widthOf(inside));
    if (faceted.column) {
      const wrapped = { ...faceted.column };
      delete faceted.column;
      if (at == spec) {
        spec.facet = wrapped;
        spec.columns = columns;
      } else faceted.facet = { ...wrapped, columns };
    } else if (at == spec && spec.facet.field) spec.columns = Math.min(spec.columns ?? 9, columns);
  }
}

// Keys stand below, in as many columns as fit.
function keyed(channel, room) {
  if (!channel?.field && !channel?.legend) return;
  if (channel.legend === null) return;
  const words = (channel.scale?.domain ?? []).map(String);
  const widest = Math.max(10, ...words.map((word) => word.length)) * DIGIT + 28;
  const shape = channel.type == "quantitative"
    ? { direction: "horizontal", gradientLength: 200 }
    : { direction: "vertical", columns: Math.max(1, Math.floor(room / widest)) };
  channel.legend = { ...channel.legend, ...shape, orient: "bottom", labelLimit: room - 40 };
}

// Names next to an axis stand in several lines.
function named(spec, view, room) {
  const y = view.encoding?.y;
  if (!y?.field || y.type == "quantitative" || y.axis === null) return;
  const most = Math.floor((0.42 * room) / DIGIT);
  const rows = spec.datasets?.[(view.data ?? spec.data)?.name] ?? [];
  const longest = Math.max(0, ...rows.map((row) => String(row[y.field] ?? "").length));
  if (longest <= most || y.axis?.labelExpr) return;
  const broken = `replace(datum.label, regexp('(.{1,${most}})(\\\\s+|$)', 'g'), '$1\\n')`;
  y.axis = {
    ...y.axis,
    labelExpr: `split(trim(${broken}), '\\n')`,
    labelLineHeight: 12,
    labelBaseline: {
      condition: { test: `length(datum.label) > ${most}`, value: "bottom" },
      value: "middle",
    },
  };
}

// Names above or below a view that is too narrow for them are turned.
function turned(x, width) {
  if (!x?.field || x.axis === null || x.axis?.labelAngle !== 0) return;
  const names = Array.isArray(x.sort) ? x.sort : x.axis?.values ?? [];
  const needed = names.reduce((sum, name) => sum + String(name).length * DIGIT + 6, 0);
  if (x.type != "quantitative" && needed > width) x.axis = { ...x.axis, labelAngle: -90 };
}

// Returns a chart for another width; views with words in cells keep theirs.
function narrowed(spec, room, factor) {
  const made = structuredClone(spec);
  const title = typeof made.title == "string" ? { text: made.title } : made.title;
  if (title) {
    made.title = { ...title, text: lines(title.text, Math.floor(room / 8)) };
    const below = [title.subtitle ?? []].flat().map((line) => lines(line, Math.floor(room / 6)));
    if (below.length) made.title.subtitle = below.flat();
  }
  made.config = { ...made.config, legend: { ...made.config?.legend, layout: {
    bottom: { anchor: "start", direction: "vertical", margin: 8 } } } };
  eachView(made, (view) => {
    if (view != made && view.title?.text) view.title.text = lines(view.title.text, Math.floor(room / 8));
  });
  eachView(made, (view) => stacked(view, room));
  eachView(made, (view) => {
    const marks = (view.layer ?? [view]).map((each) => [each.mark?.type ?? each.mark, each]);
    const words = marks.some(([mark]) => mark == "text");
    const cells = marks.some(([mark, each]) => mark == "rect" || each.encoding?.x2);
    if (typeof view.width == "number" && !(words && cells)) {
      view.width = Math.round(Math.max(90, view.width * factor));
    }
  });
  eachView(made, (view) => {
    turned(view.encoding?.x, widthOf(made));
    for (const name of ["color", "fill", "shape", "strokeDash"]) keyed(view.encoding?.[name], room);
    named(made, view, room);
    for (const [name, most] of [["x", widthOf(made)], ["y", view.height ?? 200]]) {
      const channel = view.encoding?.[name];
      if (channel?.title && typeof most == "number") {
        channel.title = lines(channel.title, Math.floor(most / 6));
      }
    }
  });
  return made;
}

// Draws a chart in a room of so many pixels; returns the room from which on it stays the same.
async function drawFitted(place, spec, room) {
  const width = () => place.querySelector("svg")?.viewBox.baseVal.width ?? 0;
  const embed = (chart) => vegaEmbed(place, chart, { actions: false, renderer: "svg" });
  await embed(spec);
  const natural = width();
  let slope = widthOf(spec), last = null;
  for (let factor = 1, tries = 0; width() > room && factor != last?.factor && tries < 5; tries++) {
    await embed(narrowed(spec, room, factor));
    if (last) slope = Math.max(1, (width() - last.width) / (factor - last.factor));
    last = { factor, width: width() };
    factor = Math.max(0.2, factor + (room - 1 - width()) / Math.max(1, slope));
  }
  return natural;
}
