// SPDX-License-Identifier: GPL-2.0-or-later
// The contention machine under policies for the scan base, by the metrics of run_policies.
(function (models) {
  "use strict";

  const PAGE_KIB = 4;

  models.bases = function (core, setting) {
    const rows = [];
    for (const policy of setting.policies)
      for (const seed of setting.seeds) {
        const found = core.run(models.machine, { ...setting.machine, policy, seed });
        const value = Object.fromEntries(found.map((row) => [row.metric, row.value]));
        const total = (prefix) => found.reduce(
          (sum, row) => (row.metric.startsWith(prefix) ? sum + row.value : sum), 0);
        const add = (metric, figure, unit) =>
          rows.push({ policy, seed: Number(seed), metric, value: figure, unit });
        add("pages moved", (value.swap_out + value.swap_in) / PAGE_KIB, "pages/s");
        add("waits", total("cycles."), "% of cycles");
        add("tested", total("slots.tested_"), "per slot");
        add("si->lock", total("acquisitions.si_lock."), "per page");
      }
    return rows;
  };
})(globalThis.swapsim.models);
