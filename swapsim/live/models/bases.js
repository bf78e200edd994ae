// SPDX-License-Identifier: GPL-2.0-or-later
// The contention machine under policies for the scan base, as swapsim.machine.run.run_policies.
(function (models) {
  "use strict";

  const PAGE_KIB = 4;

  // Return the sum that is rounded once, as math.fsum of Python does.
  function exactSum(values) {
    const partials = [];
    for (let x of values) {
      let n = 0;
      for (let y of partials) {
        if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
        const high = x + y;
        const low = y - (high - x);
        if (low) partials[n++] = low;
        x = high;
      }
      partials.length = n;
      partials.push(x);
    }
    let high = partials.pop() ?? 0;
    let low = 0;
    while (partials.length && !low) {
      const x = high;
      const y = partials.pop();
      high = x + y;
      low = y - (high - x);
    }
    // A remainder of half a unit is rounded by the sign of what is left.
    const rest = partials.at(-1) ?? 0;
    if ((low < 0 && rest < 0) || (low > 0 && rest > 0)) {
      const y = 2 * low;
      const x = high + y;
      if (x - high === y) high = x;
    }
    return high;
  }

  models.bases = function (core, setting) {
    const rows = [];
    for (const policy of setting.policies)
      for (const seed of setting.seeds) {
        const found = core.run(models.machine, { ...setting.machine, policy, seed });
        const value = Object.fromEntries(found.map((row) => [row.metric, row.value]));
        const total = (prefix) => exactSum(
          found.filter((row) => row.metric.startsWith(prefix)).map((row) => row.value));
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
