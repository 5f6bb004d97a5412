// SPDX-License-Identifier: MIT
//
// Makes the headers of the table sort it. Without it, the table is as it stands.
"use strict";

const table = document.getElementById("compared"), body = table.tBodies[0];
const heads = [...table.tHead.rows[1].cells ];

function sortBy(head) {
  const at = heads.indexOf(head), text = at === 0,
        up = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") === "descending"
                                            : text;
  // What a run does not have comes last.
  const value = (row) => Number(row.cells[at].dataset.value ?? (up ? Infinity : -Infinity));
  const compare = (a, b) => text ? a.cells[0].textContent.localeCompare(b.cells[0].textContent)
                                 : (value(a) === value(b) ? 0 : value(a) - value(b));
  body.append(...[...body.rows ].sort((a, b) => (up ? 1 : -1) * compare(a, b)));
  for (const other of heads)
    other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
}

const groups = [...table.tHead.rows[0].cells ].slice(1).map((cell) => cell.textContent);
heads.forEach((head, at) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  if (at)
    button.setAttribute("aria-label", groups[Math.floor((at - 1) / 3)] + " " + head.textContent);
  button.addEventListener("click", () => sortBy(head));
  head.replaceChildren(button);
});
