// SPDX-License-Identifier: GPL-2.0-or-later
// Filters the rows of a page as one types. The filter is in the address: #q=lock&patch=01-writeback-tags.
// Without this script all rows are shown, and the form is not.
for (const form of document.querySelectorAll("form.filter")) {
  const parts = [...document.querySelectorAll("[data-part]")];
  const around = (row) => parts.filter((part) => part.contains(row));
  const rows = [...document.querySelectorAll("[data-row]")].map((row) => {
    const within = around(row);
    const names = within.map((part) => part.dataset.part);
    const fields = Object.assign({}, ...within.map((part) => part.dataset), row.dataset);
    const titles = [...row.querySelectorAll("[title]")].map((each) => each.title);
    return { row, fields, text: [...names, ...titles, row.textContent].join(" ").toLowerCase() };
  });

  const wanted = () => [...new FormData(form)].filter(([, value]) => value.trim());

  const apply = () => {
    const fields = wanted().filter(([name]) => name !== "q");
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { row, fields: has, text } of rows) {
      const fits = fields.every(([name, value]) => has[name] === value);
      row.hidden = !fits || !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    const active = words.length + fields.length > 0;
    for (const part of parts) {
      part.hidden = active && part.querySelector("[data-row]:not([hidden])") === null;
      if (part.tagName === "DETAILS") part.open = active;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
  };

  // What a link leads to is shown, whatever the filter was.
  const reveal = (name) => {
    const target = document.getElementById(decodeURIComponent(name));
    for (let part = target?.closest("details"); part; part = part.parentElement.closest("details")) {
      part.open = true;
    }
    target?.scrollIntoView();
  };

  const read = () => {
    const hash = location.hash.slice(1);
    const given = hash.includes("=") ? new URLSearchParams(hash) : new URLSearchParams();
    for (const field of form.querySelectorAll("input, select")) {
      field.value = given.get(field.name) ?? "";
    }
    apply();
    if (hash && !hash.includes("=")) reveal(hash);
  };

  const write = () => {
    const hash = new URLSearchParams(wanted()).toString();
    history.replaceState(null, "", `#${hash}`);
    apply();
  };

  form.hidden = false;
  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(write));
  addEventListener("hashchange", read);
  addEventListener("beforeprint", () => parts.forEach((part) => (part.open = true)));
  read();
}
