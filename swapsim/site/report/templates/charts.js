// SPDX-License-Identifier: GPL-2.0-or-later
// Puts a living chart over each picture as it comes into view; the picture stays for paper.
const dark = matchMedia("(prefers-color-scheme: dark)").matches;

function inTheDark(spec) {
  const pale = { labelColor: "#ccc", titleColor: "#ccc" };
  const config = { ...spec.config, background: "transparent" };
  config.axis = { ...config.axis, ...pale, gridColor: "#444", domainColor: "#888", tickColor: "#888" };
  config.legend = { ...config.legend, ...pale };
  config.header = { ...config.header, ...pale };
  config.title = { ...config.title, color: "#eee", subtitleColor: "#bbb" };
  for (const mark of ["text", "rule", "tick"]) config[mark] = { color: "#ccc", ...config[mark] };
  config.style = { ...config.style, "group-title": { fill: "#eee" } };
  return { ...spec, background: "transparent", config };
}

function draw(figure) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const place = figure.appendChild(document.createElement("div"));
  place.className = "alive";
  vegaEmbed(place, dark ? inTheDark(spec) : spec, { actions: false, renderer: "svg" }).then(
    () => figure.classList.add("drawn"),
    () => place.remove(),
  );
}

const watcher = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) {
      if (isIntersecting) {
        watcher.unobserve(target);
        draw(target);
      }
    }
  },
  { rootMargin: "400px" },
);
for (const script of document.querySelectorAll("figure.chart > script")) {
  watcher.observe(script.parentElement);
}
