// SPDX-License-Identifier: GPL-2.0-or-later
// The type that reclaim takes first by the refault rates of both: where the choice turns.
(function (models) {
  "use strict";

  // Return a function that says whether file pages are taken, by the refaulted pages of both.
  function chooser(core, setting, rules) {
    const set = core.indexOf(core.names("sws_mglru_set_name"), rules);
    const switches = core.alloc("sws_mglru_rules");
    core.call("sws_mglru_rules_init", set, switches);
    core.write("sws_mglru_rules", switches, { few_refaults: setting.few_refaults });
    const state = core.alloc("sws_mglru_state");
    const choice = core.alloc("sws_mglru_choice");
    const side = (refaulted, upper) => ({
      refaulted: [refaulted - upper, upper, 0, 0], evicted: [setting.evicted, 0, 0, 0],
    });
    const newest = Math.max(setting.anon_generations, setting.file_generations);
    core.write("sws_mglru_state", state, {
      max_seq: newest,
      min_seq: [newest + 1 - setting.anon_generations, newest + 1 - setting.file_generations],
      swappiness: setting.swappiness,
      io: setting.io,
    });
    return (anon, file) => {
      const upper = Math.floor((file * setting.upper_percent) / 100);
      core.write("sws_mglru_state", state, { sides: [side(anon, 0), side(file, upper)] });
      core.call("sws_mglru_choose", switches, state, choice);
      return core.field("sws_mglru_choice", choice, "type") === core.constants.SWS_MGLRU_FILE;
    };
  }

  // Return the fewest refaulted file pages for which file pages are not taken; null if there are none.
  function turn(takesFile, anon, evicted) {
    if (takesFile(anon, evicted)) return null;
    let low = -1;
    let high = evicted;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (takesFile(anon, middle)) low = middle;
      else high = middle;
    }
    return high;
  }

  models.mglru = function (core, setting) {
    const rows = [];
    const { evicted } = setting;
    const onePercent = evicted / 100;
    const percent = (pages) => (pages === null ? null : pages / onePercent);
    for (const rules of setting.rules) {
      const add = (metric, x, value) => rows.push({ rules, metric, anon_percent: x, value });
      if (setting.swappiness > setting.most_swappiness[rules]) {
        add("takes file", setting.anon_percent, null);
        continue;
      }
      const takesFile = chooser(core, setting, rules);
      for (const x of setting.anon_percents) add("turn", x, percent(turn(takesFile, x * onePercent, evicted)));
      const x = setting.anon_percent;
      const at = percent(turn(takesFile, x * onePercent, evicted));
      add("turn at the setting", x, at);
      add("file rate", x, setting.file_percent);
      add("margin", x, at === null ? null : at - setting.file_percent);
      add("takes file", x, Number(takesFile(x * onePercent, setting.file_percent * onePercent)));
    }
    return rows;
  };
})(globalThis.swapsim.models);
