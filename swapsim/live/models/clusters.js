// SPDX-License-Identifier: GPL-2.0-or-later
// Large folios on a swap device of clusters: its lists over time, and the folios that are split.
//
// CPUs map folios of several sizes and swap them out at once. When the device is filled to its
// share, a random one is given back first. The draws are those of the core's generator.
(function (models) {
  "use strict";

  const LARGEST = 512;
  const SINGLES = 16;
  const LISTS = ["free", "full", "discard", "nonfull", "frag"];

  // Return what a step may map: its order and pages, its chance, and where its pages begin.
  function kindsOf(setting) {
    const all = setting.orders.reduce((sum, [, share]) => sum + share, 0);
    const shares = [[0, (100 - setting.large_percent) * all],
      ...setting.orders.map(([order, share]) => [order, setting.large_percent * share])];
    let base = 0;
    return shares.map(([order, share]) => {
      const n = order ? 1 << order : SINGLES;
      const kind = { order, n, chance: (share * LARGEST) / n, base, free: [], places: 0 };
      base += Math.ceil(((Math.floor(setting.slots / n) + 1) * n) / LARGEST) * LARGEST;
      return kind;
    });
  }

  // Return the rows of each stage, as columns; a stage is a quarter of the device swapped out.
  function stagesOf(core, setting, kinds) {
    const state = core.alloc("sws_generator");
    core.call("sws_generator_seed", state, setting.seed, 0);
    const below = (bound) => core.call("sws_generator_below", state, bound);
    const steps = core.names("sws_cluster_folios_step_name");
    const [access, drop, out] = ["access", "drop", "out"].map((name) => core.indexOf(steps, name));
    const goal = Math.floor((setting.slots * setting.fill_percent) / 100);
    const chances = kinds.reduce((sum, kind) => sum + kind.chance, 0);
    const live = [];
    const stages = [];
    let rows = [];
    let used = 0;
    let written = 0;
    while (stages.length < setting.stages) {
      const cpu = below(setting.cpus);
      let draw = below(chances);
      const kind = kinds.find((each) => (draw -= each.chance) < 0);
      while (live.length && used + kind.n > goal) {
        const at = below(live.length);
        const [old, page] = live[at];
        live[at] = live.at(-1);
        live.pop();
        rows.push([0, cpu, drop, 0, page, old.n]);
        old.free.push(page);
        used -= old.n;
      }
      const page = kind.free.pop() ?? kind.base + kind.places++ * kind.n;
      rows.push([0, cpu, access, kind.order, page, kind.n], [0, cpu, out, 0, page, kind.n]);
      live.push([kind, page]);
      used += kind.n;
      written += kind.n;
      if (written * 4 >= setting.slots * (stages.length + 1)) {
        stages.push(rows);
        rows = [];
      }
    }
    return stages;
  }

  // The requests are those of the setting before, if it differs in its rules only.
  let last = {};
  function requestsOf(core, { rules, switches, return_cache, ...setting }, kinds) {
    const of = JSON.stringify(setting);
    if (last.of !== of) last = { of, stages: stagesOf(core, setting, kinds) };
    return last.stages;
  }

  const COLUMNS = { process: "u32", cpu: "u16", step: "u8", order: "u8", page: "u32", n: "u32" };

  function columns(core, rows) {
    const made = Object.entries(COLUMNS).map(([name, kind], at) =>
      [name, core.allocArray(kind, rows.map((row) => row[at]))]);
    return core.config("sws_cluster_folios_rows", null, Object.fromEntries(made));
  }

  function device(core, setting, rules, { pages, cpus }) {
    const set = core.indexOf(core.names("sws_cluster_rule_set_name"), rules);
    const switches = core.alloc("sws_cluster_rules");
    core.call("sws_cluster_rules_init", set, switches);
    core.write("sws_cluster_rules", switches, setting.switches);
    const devices = core.config("sws_clusters_device", null, { slots: setting.slots });
    const config = core.config("sws_cluster_folios_config", "sws_cluster_folios_config_init", {
      clusters: {
        rules: core.read("sws_cluster_rules", switches), devices, n_devices: 1, cpus,
      },
      pages,
      no_return_cache: !setting.return_cache,
    });
    return core.create("sws_cluster_folios_new", "sws_cluster_folios_free", config);
  }

  models.clusters = function (core, setting) {
    const kinds = kindsOf(setting);
    const made = requestsOf(core, setting, kinds);
    const most = (of) => made.flat().reduce((all, row) => Math.max(all, of(row)), 0);
    const pages = most(([, , , , page, n]) => page + n);
    // As for a recorded stream: slot caches need free slots for each CPU that occurs.
    const cpus = 1 + most(([, cpu]) => cpu);
    const stages = made.map((rows) => [columns(core, rows), rows.length]);
    const lists = core.names("sws_cluster_list_name").map((name) => name.replace(/\d+$/, ""));
    const totals = core.alloc("sws_cluster_folios_totals");
    const found = [];
    for (const rules of setting.rules) {
      const handle = device(core, setting, rules, { pages, cpus });
      const clusters = core.call("sws_cluster_folios_clusters", handle);
      let before = { swapped_out: Array(10).fill(0), fallbacks: Array(10).fill(0) };
      stages.forEach(([rows, count], n) => {
        core.call("sws_cluster_folios_feed", handle, rows, count);
        const add = (metric, name, value) =>
          found.push({ rules, stage: n + 1, metric, name, value });
        const sums = Object.fromEntries(LISTS.map((name) => [name, 0]));
        lists.forEach((name, list) => {
          sums[name] += core.call("sws_clusters_list_length", clusters, 0, list);
        });
        for (const [name, value] of Object.entries(sums)) add("clusters", name, value);
        core.call("sws_cluster_folios_totals", handle, totals);
        const now = core.read("sws_cluster_folios_totals", totals);
        for (const { order } of kinds.slice(1))
          for (const count of ["swapped_out", "fallbacks"])
            add(count, String(order), now[count][order] - before[count][order]);
        before = now;
      });
      const share = (orders) => {
        const sum = (count) => orders.reduce((all, order) => all + before[count][order], 0);
        const tried = sum("swapped_out") + sum("fallbacks");
        const value = tried ? (100 * sum("fallbacks")) / tried : null;
        return { split: value, folios: tried };
      };
      const orders = kinds.slice(1).map(({ order }) => order);
      const shares = [...orders.map((order) => [String(order), [order]]), ["all", orders]]
        .map(([name, of]) => [name, share(of)]);
      for (const metric of ["split", "folios"])
        for (const [name, of] of shares)
          found.push({ rules, stage: stages.length, metric, name, value: of[metric] });
    }
    return found;
  };
})(globalThis.swapsim.models);
