// SPDX-License-Identifier: GPL-2.0-or-later
// The contention machine: a row for each metric, as swapsim.machine.run.run returns them.
(function (models) {
  "use strict";

  const DEVICE = ["slots", "cluster_size", "trunk_shift", "rotational", "seed"];
  const FIELDS = [
    "list_pages", "slot_cache", "nodes", "devices", "channels", "writers",
    "walkers", "frames", "inactive_ratio", "shares_memory", "pages",
    "memory_max", "accesses", "drop_percent", "sweeps", "read_percent", "spread_percent",
    "fragmented", "spare_cpus", "stay_ns",
  ];
  const TIMES = ["run_ns", "hold_ns", "wait_ns", "idle_ns"];
  const COUNTS = ["acquisitions", "contended", "moved", "wait_ns", "hold_ns"];
  const LONGEST = ["longest_wait_ns", "longest_hold_ns"];
  const NOT_OF_SLOTS = ["given", "si_lock", "cluster_lock", "searches"];
  const PAGE_KIB = 4;
  const CHUNK_EVENTS = 1 << 20;

  const picked = (values, names) => Object.fromEntries(names.map((name) => [name, values[name]]));
  const total = (rows, value) => rows.reduce((sum, row) => sum + value(row), 0);

  function settings(core, setting) {
    const { constants } = core;
    const tags = setting.tags;
    const device = {
      kernel: core.indexOf(core.names("sws_kernel_name"), setting.kernel),
      policy: core.indexOf(core.names("sws_base_policy_name"), setting.policy),
      ...picked(setting, DEVICE),
    };
    return core.config("sws_machine_config", "sws_machine_config_init", {
      ...picked(setting, FIELDS),
      device,
      costs: setting.costs,
      removal: core.indexOf(core.words("sws_removal_mode", "SWS_REMOVAL_"), setting.removal),
      lock_kind: setting.test_and_set ? constants.SWS_LOCK_TEST_AND_SET : constants.SWS_LOCK_QUEUED,
      swap_writeback_tags:
        tags === null || tags === undefined ? constants.SWS_TAGS_AS_RELEASED
        : tags ? constants.SWS_TAGS_KEPT : constants.SWS_TAGS_NOT_KEPT,
    });
  }

  function runUntil(core, machine, until) {
    const more = core.alloc("bool");
    const events = core.alloc("u64");
    core.set("bool", more, true);
    while (core.get("bool", more)) {
      core.call("sws_machine_run", machine, until, CHUNK_EVENTS, more, events);
      if (core.call("sws_machine_stuck", machine))
        throw new Error("no swap slot is left: give the devices more slots");
    }
  }

  function snapshot(core, machine) {
    const cpus = core.call("sws_machine_cpus", machine);
    const each = (count, name) =>
      Array.from({ length: count }, (_, n) => core.call(name, machine, n));
    return {
      now: core.call("sws_machine_now", machine),
      sites: each(core.constants.SWS_SITES, "sws_machine_site_of"),
      cpus: each(cpus, "sws_machine_cpu_of"),
      slots: core.call("sws_machine_slots_work", machine),
    };
  }

  // Return the counts of a window; longest times are since the start.
  function since(before, after) {
    const differences = (earlier, later) =>
      Object.fromEntries(Object.keys(later).map((name) => {
        const value = later[name];
        if (typeof value === "object") return [name, differences(earlier[name], value)];
        return [name, LONGEST.includes(name) || name === "kind" ? value : value - earlier[name]];
      }));
    return differences(before, after);
  }

  function metrics(core, setting, window) {
    const cpus = Object.values(window.cpus);
    const elapsed = window.now;
    const rate = (name) => (total(cpus, (cpu) => cpu[name]) * 1e9) / elapsed;
    const busy = Math.max(
      total(cpus, ({ time }) => time.run_ns + time.hold_ns + time.wait_ns), 1);
    const pages = Math.max(total(cpus, (cpu) => cpu.pages_out), 1);
    const rows = [];
    const add = (metric, value, unit) => rows.push({ metric, value, unit });
    add("swap_out", PAGE_KIB * rate("pages_out"), "KiB/s");
    add("swap_in", PAGE_KIB * rate("pages_in"), "KiB/s");
    add("written", PAGE_KIB * rate("touched"), "KiB/s");
    add("accesses", rate("accesses"), "accesses/s");
    Object.values(window.sites).forEach((site, number) => {
      const name = core.call("sws_machine_site_name", number);
      add(`cycles.${name}`, (100 * site.wait_ns) / busy, "% of cycles");
      for (const count of COUNTS)
        add(`${count.replace(/_ns$/, "")}.${name}`, site[count] / pages,
          count.endsWith("_ns") ? "ns per page" : "per page");
      for (const time of LONGEST) add(`${time.replace(/_ns$/, "")}.${name}`, site[time], "ns");
    });
    core.words("sws_actor_kind", "SWS_ACTOR_").forEach((actor, kind) => {
      const own = cpus.filter((cpu) => cpu.kind === kind);
      if (actor === "none" || !own.length) return;
      const sums = TIMES.map((name) => total(own, (cpu) => cpu.time[name]));
      const all = Math.max(total(sums, (sum) => sum), 1);
      TIMES.forEach((name, n) =>
        add(`${name.replace(/_ns$/, "")}.${actor}`, (100 * sums[n]) / all, "% of time"));
    });
    const given = Math.max(window.slots.given, 1);
    for (const [name, count] of Object.entries(window.slots))
      if (!NOT_OF_SLOTS.includes(name)) add(`slots.${name}`, count / given, "per slot");
    add("busy", busy / pages, "ns of all CPUs per page");
    add("elapsed", elapsed, "ns");
    return rows;
  }

  models.machine = function (core, setting) {
    const machine = core.create(
      "sws_machine_new", "sws_machine_free", settings(core, setting));
    runUntil(core, machine, setting.warmup_ns);
    const before = snapshot(core, machine);
    runUntil(core, machine, before.now + setting.duration_ns);
    const after = snapshot(core, machine);
    if (after.now === before.now) throw new Error("all tasks ended within the warm-up");
    return metrics(core, setting, since(before, after));
  };
})(globalThis.swapsim.models);
