// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs that take one lock in a loop: acquisitions a microsecond, a row for each seed.
(function (models) {
  "use strict";

  const onSocket = {
    "one socket": (threads) => threads,
    mixed: (threads) => Math.ceil(threads / 2),
    "all remote": () => 1,
  };

  function rate(core, setting, { kind, placement, threads, seed }) {
    const des = core.config("sws_des_config", "sws_des_config_init", {
      ...setting.travels, cpus: threads, cpus_per_socket: onSocket[placement](threads),
    });
    const { think_ns, hold_ns, acquisitions } = setting;
    const lock_kind = core.indexOf(core.words("sws_lock_kind", "SWS_LOCK_"), kind);
    const loop = core.config("sws_closed_loop_config", null, {
      des: core.read("sws_des_config", des), lock_kind, locks: 1, think_ns, hold_ns, seed,
    });
    const now = core.alloc("u64");
    core.call("sws_closed_loop", loop, acquisitions, core.alloc("sws_des_site"), now);
    return 1000 / (core.get("u64", now) / acquisitions);
  }

  models.locks = (core, setting) =>
    setting.kinds.flatMap((kind) => setting.placements.flatMap((placement) =>
      setting.threads.flatMap((threads) => setting.seeds.map((seed) => {
        const point = { kind, placement, threads, seed };
        return { ...point, value: rate(core, setting, point) };
      }))));
})(globalThis.swapsim.models);
