// SPDX-License-Identifier: GPL-2.0-or-later
// The worker of a page's panels: first it gets the core, then settings, which it answers with rows.
"use strict";
let core = null;

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const started = new Promise((begin) => {
  onmessage = async ({ data: { id, wasm, layout, panel, setting, seed } }) => {
    try {
      if (wasm) {
        core = swapsim.core(await unpacked(wasm), layout);
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
