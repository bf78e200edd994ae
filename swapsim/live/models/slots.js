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

  // Begin a phase and run it to its end, in steps of an effort.
  function go(core, handle, effort, each, begin, ...given) {
    const over = core.alloc("bool");
    core.call(begin, handle, ...given);
    do {
      core.call("sws_workbench_run", handle, effort, over);
      each();
    } while (!core.get("bool", over));
  }

  // Run the churn that slots.ChurnConfig describes; frame is called along it.
  function churn(core, setting, { handle, n_tasks }, effort, frame) {
    const used = Math.max(1, rounded(setting.used_share * (setting.slots - 1)));
    const rounds = (pages) => 2 * Math.ceil(pages / n_tasks);
    const phase = (...given) => go(core, handle, EFFORT, () => {}, ...given);
    phase("sws_workbench_fill", ALL, true);
    phase("sws_workbench_fill", used, false);
    phase("sws_workbench_thin", used);
    core.call("sws_workbench_begin_measures", handle);
    go(core, handle, effort, frame, "sws_workbench_churn", rounds(setting.warm_up_pages));
    core.call("sws_workbench_begin_measures", handle);
    frame(true);
    go(core, handle, effort, frame, "sws_workbench_churn", rounds(setting.pages));
  }

  function measured(core, handle) {
    const out = core.alloc("sws_workbench_measures");
    core.call("sws_workbench_measures", handle, out);
    return core.read("sws_workbench_measures", out);
  }

  // The rows of models/slots.py: of each frame the last slot of each address space and the share of
  // its pages that met another CPU in their trunk, then quotients of the counts of the churn.
  models.slots = function (core, setting) {
    const made = bench(core, setting);
    const pages = setting.pages + setting.warm_up_pages;
    const effort = Math.ceil((2 * pages * STEP_EFFORT) / setting.frames);
    const rows = [];
    let base = 0;
    let before = { pages_out: 0, pages_met: 0 };
    churn(core, setting, made, effort, (restarted = false) => {
      const now = measured(core, made.handle);
      if (restarted) {
        base += before.pages_out;
        before = now;
        return;
      }
      const out = now.pages_out - before.pages_out;
      const at = { pages: base + now.pages_out, task: null };
      for (let task = 0; task < made.spaces; task++) {
        const value = core.call("sws_workbench_last_slot", made.handle, task);
        rows.push({ ...at, metric: "slot", task, value });
      }
      const value = out ? (now.pages_met - before.pages_met) / out : null;
      rows.push({ ...at, metric: "shared", value });
      before = now;
    });
    const found = measured(core, made.handle);
    const count = (path) => path.split(".").reduce((value, name) => value[name], found);
    const sum = (paths) => paths.reduce((all, path) => all + count(path), 0);
    for (const [metric, { over, under }] of Object.entries(setting.metrics)) {
      const below = sum(under);
      const value = below ? sum(over) / below : null;
      rows.push({ pages: base + found.pages_out, task: null, metric, value });
    }
    return rows;
  };
})(globalThis.swapsim.models);
