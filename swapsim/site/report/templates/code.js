// SPDX-License-Identifier: GPL-2.0-or-later
// The code of a notebook's cells is closed: a button opens all of it, and so does printing.
const codes = [...document.querySelectorAll("details.code")];
const closed = () => codes.filter((each) => !each.open);
const opener = document.querySelector("button.all-code");
if (opener) {
  opener.addEventListener("click", () => {
    const open = closed().length > 0;
    for (const each of codes) each.open = open;
  });
  const say = () => { opener.textContent = closed().length ? "Show all code" : "Hide all code"; };
  for (const each of codes) each.addEventListener("toggle", say);
}

let opened = [];
addEventListener("beforeprint", () => {
  opened = closed();
  for (const each of opened) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of opened) each.open = false;
});
