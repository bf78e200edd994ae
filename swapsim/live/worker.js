// SPDX-License-Identifier: GPL-2.0-or-later
// The worker of a page's panels: first it gets the core, then settings, which it answers with rows.
"use strict";
let core = null;

async function answer({ wasm, layout, panel, setting, seed }) {
  try {
    if (!wasm) return { rows: swapsim.configs.run(await core, panel, setting, seed) };
    core = swapsim.unpacked(wasm).arrayBuffer().then((bytes) => swapsim.core(bytes, layout));
    await core;
    return {};
  } catch (error) {
    return { error: error.message };
  }
}
onmessage = async ({ data }) => postMessage(await answer(data));
