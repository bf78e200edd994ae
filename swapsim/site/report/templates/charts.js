// SPDX-License-Identifier: GPL-2.0-or-later
// Puts a living chart over each picture as it comes into view; the picture stays for paper.
function draw(figure) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const place = figure.appendChild(document.createElement("div"));
  place.className = "alive";
  vegaEmbed(place, spec, { actions: false, renderer: "svg" }).then(
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
