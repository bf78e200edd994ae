// SPDX-License-Identifier: GPL-2.0-or-later
// What is wider than its place: a table gets narrower cells, or else a line per value, with the
// name of its column; printed tables and diagrams get smaller characters.
const boxes = [...document.querySelectorAll(".wide:has(> table, > div > table, > details > table)")];
const tablesOf = (some) => some.map((box) => box.querySelector("table"));
for (const table of tablesOf(boxes)) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => {
    const unit = head.querySelector("small")?.textContent ?? "";
    const name = head.textContent.slice(0, head.textContent.length - unit.length);
    return unit ? `${name}, ${unit}` : name;
  });
  for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
    for (const cell of row.cells) {
      cell.classList.toggle("short", /^\S{1,18}$/.test(cell.textContent)); // a word is not broken
      if (cell.colSpan == 1 && heads[cell.cellIndex]) cell.dataset.label = heads[cell.cellIndex];
      const nodes = [cell, ...cell.querySelectorAll("abbr")].flatMap((each) => [...each.childNodes]);
      for (const text of nodes.filter((node) => /[^\s-]{20}/.test(node.data))) {
        const parts = text.data.split(/(?<=[a-z][._/:])/i);
        text.replaceWith(...parts.flatMap((part) => [part, document.createElement("wbr")]));
      }
    }
  }
}

// Lines of code continue with an indent, and rather after a bracket or before a point.
for (const code of document.querySelectorAll(".code pre")) {
  const broken = code.innerHTML
    .replace(/\n$/, "")
    .replaceAll('<span class="o">.</span>', "<wbr>$&")
    .replace(/<span class="p">[^<]*[([{]<\/span>/g, "$&<wbr>");
  const lines = broken.split("\n");
  code.innerHTML = lines.map((line) => `<span class="line">${line || " "}</span>`).join("");
}

const tables = /\S {2,}\S.*\n.*\S {2,}\S/;
const drawings = [...document.querySelectorAll("pre.printed, pre.highlight")].filter(
  (block) => block.matches(".highlight") || tables.test(block.textContent),
);
for (const block of drawings) block.classList.add("drawing");

const LEAST = 7.5; // pixels of the characters of a printed table; below them its lines are broken

function fitAll() {
  const tooWide = (box) => box.scrollWidth > box.clientWidth;
  for (const table of tablesOf(boxes)) table.classList.remove("tight", "stacked");
  for (const block of drawings) {
    block.style.removeProperty("font-size");
    block.classList.remove("broken");
  }
  for (const way of ["tight", "stacked"]) {
    for (const table of tablesOf(boxes.filter(tooWide))) table.classList.add(way);
  }
  const sizes = drawings.filter(tooWide).map((block) => {
    const { paddingLeft, paddingRight, fontSize } = getComputedStyle(block);
    const padding = parseFloat(paddingLeft) + parseFloat(paddingRight);
    const share = (block.clientWidth - padding) / (block.scrollWidth - padding);
    return [block, Math.floor(99 * share * parseFloat(fontSize)) / 100];
  });
  for (const [block, size] of sizes) {
    const breaks = block.matches(".printed") && size < LEAST;
    block.classList.toggle("broken", breaks);
    block.style.fontSize = `${breaks ? LEAST : size}px`;
  }
}

// A filter opens many parts of a page at once.
let due = 0;
addEventListener(
  "toggle",
  () => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      fitAll();
    });
  },
  true,
);
let fitted = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width != fitted) {
    fitted = contentRect.width;
    fitAll();
  }
}).observe(document.querySelector("main"));
