// Tables that stand in the page: headings become buttons that sort, long tables get a box that filters.

const LONG = 8;

// Made once: a collator costs far more than a comparison.
const collator = new Intl.Collator("en", { numeric: true });

function compare(one, other) {
  if (one === other) return 0;
  if (one === null) return 1; // What is not known stands last, whichever end is first.
  if (other === null) return -1;
  return typeof one === "number" ? one - other : collator.compare(one, other);
}

const keyOf = (cell) => {
  if (!cell) return null;
  const value = cell.dataset.value;
  // A ratio that was not followed further (">= 100.00") sorts by the number that it reached.
  return value === undefined ? cell.textContent.trim().replace(/^>= /, "") || null : value === "" ? null : Number(value);
};

function sorter(header, sort) {
  const words = [...header.childNodes];
  const press = button("", () => {
    const descending = header.getAttribute("aria-sort") === "descending";
    const first = header.classList.contains("number") ? "descending" : "ascending";
    const next = header.getAttribute("aria-sort") === "none" ? first : descending ? "ascending" : "descending";
    for (const other of header.parentElement.children) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", next);
    sort(header.cellIndex, next === "descending" ? -1 : 1);
  });
  press.append(...words);
  header.append(press);
  header.setAttribute("aria-sort", "none");
}

function sortable(table) {
  const body = table.tBodies[0];
  for (const header of table.tHead.rows[0].cells) {
    sorter(header, (column, direction) => {
      const rows = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
      rows.sort(([one], [other]) => (one === null || other === null ? compare(one, other) : direction * compare(one, other)));
      body.append(...rows.map(([, row]) => row));
    });
  }
  if (body.rows.length <= LONG) return;
  const count = element("span", { class: "count", role: "status" });
  const filter = element("input", { type: "search", "aria-label": "Filter the rows of this table" });
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${counted(shown, "row")} of ${grouped(body.rows.length)}` : "";
  });
  table.closest(".scroll").before(element("div", { class: "controls" }, element("label", {}, "Filter ", filter), count));
}
