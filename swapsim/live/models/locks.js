// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs that take one lock in a loop: acquisitions a microsecond, a row for each seed.
(function (models) {
  "use strict";

  const onSocket = {
    "one socket": (threads) => threads,
    mixed: (threads) => Math.ceil(threads / 2),
    "all remote": () => 1,
  };

  function time(core, setting, kind, placement, threads, seed) {
    const des = core.config("sws_des_config", "sws_des_config_init", {
      ...setting.travels,
      cpus: threads,
      cpus_per_socket: onSocket[placement](threads),
    });
    const loop = core.config("sws_closed_loop_config", null, {
      des: core.read("sws_des_config", des),
      lock_kind: core.indexOf(core.words("sws_lock_kind", "SWS_LOCK_"), kind),
      locks: 1,
      think_ns: setting.think_ns,
      hold_ns: setting.hold_ns,
      seed,
    });
    const now = core.alloc("u64");
    const site = core.alloc("sws_des_site");
    core.call("sws_closed_loop", loop, setting.acquisitions, site, now);
    return core.get("u64", now) / setting.acquisitions;
  }

  models.locks = function (core, setting) {
    const rows = [];
    for (const kind of setting.kinds)
      for (const placement of setting.placements)
        for (const threads of setting.threads)
          for (const seed of setting.seeds)
            rows.push({
              kind, placement, threads, seed,
              value: 1000 / time(core, setting, kind, placement, threads, seed),
            });
    return rows;
  };
})(globalThis.swapsim.models);
