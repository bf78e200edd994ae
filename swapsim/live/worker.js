// SPDX-License-Identifier: GPL-2.0-or-later
// The worker of a page's panels: first it gets the core, then settings, which it answers with rows.
"use strict";
let core = null;

const started = new Promise((begin) => {
  onmessage = async ({ data: { id, wasm, layout, panel, setting, seed } }) => {
    try {
      if (wasm) {
        core = swapsim.core(await swapsim.unpacked(wasm).arrayBuffer(), layout);
        begin();
        postMessage({ id });
      } else {
        await started;
        postMessage({ id, rows: swapsim.configs.run(core, panel, setting, seed) });
      }
    } catch (error) {
      postMessage({ id, error: error.message });
    }
  };
});
