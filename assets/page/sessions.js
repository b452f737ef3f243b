// All sessions under all policies, the worst first until a reader sorts them otherwise: picked, sorted, filtered, a page of rows at a time.
// Figures are there at once, calls when a row is opened.

const STEP = 50;
const SHOWN = ["calls", "overflows", "reply_cut", "over_budget", "missed", "truncations", "prunes", "compactions", "peak_tokens", "tokens_saved_share",
  "references_kept_share", "cost"];

// What makes a session worse than another one, the most important first: the same as in the table without script.
const WORSE = ["failed_sessions", "overflows", "reply_cut", "over_budget", "peak_tokens"];

function sessionsTable(overview, open) {
  const at = SHOWN.map((key) => overview.columns.findIndex((column) => column.key === key)).filter((place) => place >= 0);
  const names = [["session", (row) => overview.sessions[row.session].id], ["policy", (row) => overview.policies[row.policy]],
    ["agent", (row) => overview.sessions[row.session].agent], ["model", (row) => overview.sessions[row.session].model]];
  const columns = [...names.map(([header, value]) => ({ header, value, name: true })),
    ...at.map((place) => ({ ...overview.columns[place], value: (row) => overview.figures[row.policy][place][row.session] }))];
  const all = overview.policies.flatMap((_, policy) => overview.sessions.map((_, session) => ({ policy, session })));
  for (const row of all) row.words = `${names.map(([, value]) => value(row)).join(" ")} ${overview.sessions[row.session].source}`.toLowerCase();

  const worse = WORSE.map((key) => overview.columns.findIndex((column) => column.key === key)).filter((place) => place >= 0);
  // The sort is stable: equals stay in the order of policies and sessions.
  all.sort((one, other) => {
    const figures = (row) => overview.figures[row.policy];
    for (const place of worse) {
      const difference = figures(other)[place][other.session] - figures(one)[place][one.session];
      if (difference !== 0) return difference;
    }
    return 0;
  });

  const asked = address.read();
  const without = new Set((asked.get("without") || "").split("|").map((key) => overview.policyKeys.indexOf(key)).filter((policy) => policy >= 0));
  let [column, direction] = (asked.get("sort") || "").split(".");
  [column, direction] = [columns.findIndex(({ key, header }) => (key || header) === column), Number(direction)];
  let limit = STEP;

  const filter = element("input", { type: "search", value: asked.get("filter") || "" });
  const count = element("span", { class: "count", role: "status" });
  const headers = columns.map(({ header, meaning, name }) => element("th", { scope: "col", class: name ? null : "number", title: meaning || null }, header));
  const body = element("tbody");
  const more = button("", () => { limit += 4 * STEP; show(); });
  const table = element("table", { class: "sessions" }, element("caption", {}, "Sessions under policies, the worst first: those that end in a refusal, then by overflows, cut replies, calls over budget and peak context. Open one to walk through its calls."),
    element("thead", {}, element("tr", {}, ...headers)), body);

  headers.forEach((header, place) => sorter(header, (_, chosen) => {
    [column, direction] = [place, chosen];
    address.change({ sort: `${columns[place].key || columns[place].header}.${chosen}` });
    limit = STEP;
    show();
  }));

  function show() {
    const wanted = filter.value.trim().toLowerCase();
    const rows = all.filter((row) => !without.has(row.policy) && (wanted === "" || row.words.includes(wanted)));
    if (columns[column]) {
      const value = columns[column].value;
      const keyed = rows.map((row) => [value(row), row]);
      keyed.sort(([one], [other]) => (one === null || other === null ? compare(one, other) : direction * compare(one, other)));
      keyed.forEach(([, row], place) => { rows[place] = row; });
    }
    body.replaceChildren(...rows.slice(0, limit).map((row) => element("tr", {}, ...columns.map(({ value, unit, name }, place) => {
      if (place === 0) {
        const words = value(row) || "(no id)";
        return element("th", { scope: "row" }, element("a", { href: `#${new URLSearchParams({ session: overview.sessionKeys[row.session], policy: overview.policyKeys[row.policy] })}`,
          onclick: (event) => { event.preventDefault(); open(row.session, row.policy); } }, words));
      }
      return element("td", { class: name ? "name" : "number" }, name ? value(row) : figure(value(row), unit));
    }))));
    count.textContent = `${counted(rows.length, "row")} of ${grouped(all.length)}`;
    more.hidden = rows.length <= limit;
    more.textContent = `Show more (${grouped(rows.length - limit)} left)`;
  }

  filter.addEventListener("input", () => { limit = STEP; address.change({ filter: filter.value }); show(); });
  const picks = overview.policies.map((name, policy) => {
    const box = element("input", { type: "checkbox", checked: !without.has(policy) });
    box.addEventListener("change", () => {
      if (box.checked) without.delete(policy); else without.add(policy);
      address.change({ without: [...without].sort((one, other) => one - other).map((place) => overview.policyKeys[place]).join("|") });
      limit = STEP;
      show();
    });
    return element("label", {}, box, name);
  });
  if (columns[column]) headers[column].setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
  show();
  return element("div", {}, element("div", { class: "controls" }, element("label", {}, "Filter ", filter), count),
    element("div", { class: "controls", role: "group", "aria-label": "Policies that are shown" }, ...picks),
    element("div", { class: "scroll" }, table), more);
}
