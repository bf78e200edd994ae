// SPDX-License-Identifier: GPL-2.0-or-later
// A panel in JupyterLab: the same workers for all of them. Python learns each setting that has settled.
let ask = null;

export default {
  render({ model, el }) {
    ask ??= swapsim.live.start(swapsim.bundle);
    const root = document.createElement("figure");
    root.className = "panel";
    root.append(Object.assign(new Image(), { src: `data:image/png;base64,${model.get("picture")}`, alt: "" }));
    el.classList.add("swapsim-live");
    el.append(root);
    const saved = (setting) => {
      try {
        model.set("setting", setting);
        model.save_changes();
      } catch { /* the kernel has ended; the panel goes on */ }
    };
    swapsim.live.show(root, model.get("panel"), { ask, saved, setting: model.get("setting") });
  },
};
