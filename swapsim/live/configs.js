// SPDX-License-Identifier: GPL-2.0-or-later
// The runs of a panel's setting, as panel.configs has them in Python.
"use strict";
// What script.py has packed: gzip in base64.
swapsim.unpacked = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};

swapsim.configs = (() => {
  const isMap = (value) => value != null && typeof value == "object" && !Array.isArray(value);

  function merged(...parts) {
    const made = {};
    for (const [name, value] of parts.flatMap(Object.entries)) {
      made[name] = isMap(value) && isMap(made[name]) ? merged(made[name], value) : value;
    }
    return made;
  }

  const seeded = ({ seeded: field }, seed) =>
    field ? { [field]: field == "seeds" ? [seed] : String(seed) } : {};

  // Returns the labels and the config of each run.
  function of(panel, setting, seed) {
    const chosen = panel.sets.map(([names, table]) => {
      const values = names.map((name) => setting[name]);
      const found = table[values.join("|")];
      if (!found) throw new Error(`${values.join(", ")}: ${panel.unmet}`);
      return found;
    });
    return panel.cases.map(([labels, fields]) => [labels, merged(panel.base, ...chosen, fields, seeded(panel, seed))]);
  }

  // Returns the rows of a setting that the panel shows.
  function run(core, panel, setting, seed) {
    const kept = Object.entries(panel.columns);
    const model = swapsim.models[panel.model];
    return of(panel, setting, seed)
      .flatMap(([labels, config]) => core.run(model, config).map((row) => ({ ...labels, ...row, seed })))
      .filter((row) => kept.every(([name, values]) => values.includes(row[name])));
  }

  return { of, run };
})();
