// SPDX-License-Identifier: GPL-2.0-or-later
// The slot workbench: where the slots of each task lie over time, and the metrics of the churn.
(function (models) {
  "use strict";

  const EFFORT = 1n << 24n;
  const ALL = (1n << 64n) - 1n;
  // The least effort of a task in a round, of which a page out takes two: WORKBENCH_STEP_EFFORT.
  const STEP_EFFORT = 256;

  // Return the nearest whole number, and of two the even one, as round of Python does.
  function rounded(value) {
    const nearest = Math.round(value);
    return value % 1 === 0.5 && nearest % 2 ? nearest - 1 : nearest;
  }

  const picked = (values, names) => Object.fromEntries(names.map((name) => [name, values[name]]));

  function bench(core, setting) {
    const online = setting.online_cpus ?? setting.possible_cpus;
    const n_tasks = setting.tasks ?? online;
    const device = {
      ...picked(setting, ["slots", "cluster_size", "trunk_shift", "rotational", "possible_cpus",
        "seed"]),
      kernel: core.indexOf(core.names("sws_kernel_name"), setting.kernel),
      policy: core.indexOf(core.names("sws_base_policy_name"), setting.policy),
      online_cpus: online,
      address_spaces: Math.ceil(n_tasks / setting.threads_per_address_space),
    };
    const config = core.config("sws_workbench_config", "sws_workbench_config_init", {
      cache: { device, enabled: setting.slot_cache },
      asynchronous: setting.swap_in === "asynchronous",
      lock_window: online,
      n_tasks,
      pages_a_cpu: setting.pages_a_cpu,
    });
    const handle = core.create("sws_workbench_new", "sws_workbench_free", config);
    return { handle, n_tasks, spaces: device.address_spaces };
  }

  // Begin a phase and run it to its end, in steps of an effort; `each` is called after each step.
  function go(core, handle, effort, each, begin, ...given) {
    const over = core.alloc("bool");
    core.call(begin, handle, ...given);
    do {
      core.call("sws_workbench_run", handle, effort, over);
      each();
    } while (!core.get("bool", over));
  }

  function measured(core, handle) {
    const out = core.alloc("sws_workbench_measures");
    core.call("sws_workbench_measures", handle, out);
    return core.read("sws_workbench_measures", out);
  }

  // The rows of models.slots_rows: of each frame the last slot of each address space and the share
  // of its pages that met another CPU in their trunk, then quotients of the counts of the churn.
  models.slots = function (core, setting) {
    const { handle, n_tasks, spaces } = bench(core, setting);
    const used = Math.max(1, rounded(setting.used_share * (setting.slots - 1)));
    const phase = (...given) => go(core, handle, EFFORT, () => {}, ...given);
    phase("sws_workbench_fill", ALL, true);
    phase("sws_workbench_fill", used, false);
    phase("sws_workbench_thin", used);
    const all = setting.pages + setting.warm_up_pages;
    const effort = Math.ceil((2 * all * STEP_EFFORT) / setting.frames);
    const rows = [];
    let base = 0, found = null;
    for (const pages of [setting.warm_up_pages, setting.pages]) {
      let before = { pages_out: 0, pages_met: 0 };
      base += found?.pages_out ?? 0;
      core.call("sws_workbench_begin_measures", handle);
      go(core, handle, effort, () => {
        found = measured(core, handle);
        const out = found.pages_out - before.pages_out;
        const at = { pages: base + found.pages_out, task: null };
        for (let task = 0; task < spaces; task++)
          rows.push({ ...at, metric: "slot", task, value: core.call("sws_workbench_last_slot", handle, task) });
        rows.push({ ...at, metric: "shared", value: out ? (found.pages_met - before.pages_met) / out : null });
        before = found;
      }, "sws_workbench_churn", 2 * Math.ceil(pages / n_tasks));
    }
    const count = (path) => path.split(".").reduce((value, name) => value[name], found);
    const sum = (paths) => paths.reduce((total, path) => total + count(path), 0);
    for (const [metric, { over, under }] of Object.entries(setting.metrics)) {
      const below = sum(under);
      rows.push({ pages: base + found.pages_out, task: null, metric, value: below ? sum(over) / below : null });
    }
    return rows;
  };
})(globalThis.swapsim.models);
