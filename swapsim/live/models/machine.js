// SPDX-License-Identifier: GPL-2.0-or-later
// The contention machine: the metrics of its time and of its rate, as swapsim.machine has them.
(function (models) {
  "use strict";

  const DEVICE = ["slots", "cluster_size", "trunk_shift", "rotational", "seed"];
  const TIMES = ["run", "hold", "wait", "idle"];
  const PAGE_KIB = 4;
  const CHUNK_EVENTS = 1 << 20;

  const total = (rows, value) => rows.reduce((sum, row) => sum + value(row), 0);

  function config(core, setting) {
    const { constants } = core;
    const { kernel, policy, removal, test_and_set, tags, warmup_ns, duration_ns, ...fields } = setting;
    const device = {
      kernel: core.indexOf(core.names("sws_kernel_name"), kernel),
      policy: core.indexOf(core.names("sws_base_policy_name"), policy),
    };
    for (const name of DEVICE) {
      device[name] = fields[name];
      delete fields[name];
    }
    return core.config("sws_machine_config", "sws_machine_config_init", {
      ...fields,
      device,
      removal: core.indexOf(core.words("sws_removal_mode", "SWS_REMOVAL_"), removal),
      lock_kind: test_and_set ? constants.SWS_LOCK_TEST_AND_SET : constants.SWS_LOCK_QUEUED,
      swap_writeback_tags:
        tags == null ? constants.SWS_TAGS_AS_RELEASED
        : tags ? constants.SWS_TAGS_KEPT : constants.SWS_TAGS_NOT_KEPT,
    });
  }

  function runUntil(core, machine, until) {
    const more = core.alloc("bool");
    const events = core.alloc("u64");
    do {
      core.call("sws_machine_run", machine, until, CHUNK_EVENTS, more, events);
      if (core.call("sws_machine_stuck", machine))
        throw new Error("no swap slot is left: give the devices more slots");
    } while (core.get("bool", more));
  }

  function snapshot(core, machine) {
    const each = (count, name) =>
      Array.from({ length: count }, (_, n) => core.call(name, machine, n));
    return {
      now: core.call("sws_machine_now", machine),
      sites: each(core.constants.SWS_SITES, "sws_machine_site_of"),
      cpus: each(core.call("sws_machine_cpus", machine), "sws_machine_cpu_of"),
    };
  }

  // Return what a window added to each count; the kind of a CPU stays.
  const since = (before, after) => Object.fromEntries(Object.keys(after).map((name) => {
    const [earlier, later] = [before[name], after[name]];
    if (typeof later == "object") return [name, since(earlier, later)];
    return [name, name == "kind" ? later : later - earlier];
  }));

  models.machine = function (core, setting) {
    const machine = core.create("sws_machine_new", "sws_machine_free", config(core, setting));
    runUntil(core, machine, setting.warmup_ns);
    const before = snapshot(core, machine);
    runUntil(core, machine, before.now + setting.duration_ns);
    const after = snapshot(core, machine);
    if (after.now == before.now) throw new Error("all tasks ended within the warm-up");
    const window = since(before, after);
    const cpus = Object.values(window.cpus);
    const busy = Math.max(total(cpus, ({ time }) => time.run_ns + time.hold_ns + time.wait_ns), 1);
    const out = total(cpus, (cpu) => cpu.pages_out);
    const pages = Math.max(out, 1);
    const rows = [{ metric: "swap_out", value: (PAGE_KIB * (out * 1e9)) / window.now }];
    Object.values(window.sites).forEach((site, number) => {
      const name = core.call("sws_machine_site_name", number);
      for (const time of ["wait", "hold"])
        rows.push({ metric: `${time}.${name}`, value: site[`${time}_ns`] / pages });
    });
    core.words("sws_actor_kind", "SWS_ACTOR_").forEach((actor, kind) => {
      const own = cpus.filter((cpu) => cpu.kind == kind);
      if (actor == "none" || !own.length) return;
      const sums = TIMES.map((name) => total(own, (cpu) => cpu.time[`${name}_ns`]));
      const all = Math.max(total(sums, (sum) => sum), 1);
      TIMES.forEach((name, n) => rows.push({ metric: `${name}.${actor}`, value: (100 * sums[n]) / all }));
    });
    rows.push({ metric: "busy", value: busy / pages });
    return rows;
  };
})(globalThis.swapsim.models);
