// What the page does once it is there. Without this script it is a document with tables and pictures, and complete as that.

function themes(redraw) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const toggle = button("", () => { root.dataset.theme = isDark() ? "light" : "dark"; show(); redraw(); }, { class: "theme" });
  const show = () => { toggle.textContent = isDark() ? "Light colours" : "Dark colours"; };
  system.addEventListener("change", () => { show(); redraw(); });
  show();
  document.querySelector(".top").append(toggle);
}

function start() {
  let view = null;
  themes(() => view && view.redraw());
  const data = document.getElementById("overview");
  // What stands for the sessions where no script runs is replaced.
  document.querySelectorAll(data ? "table.sortable:not(.static *)" : "table.sortable").forEach(sortable);
  const chapter = document.getElementById("sessions");
  if (!data || !chapter) return;
  const overview = JSON.parse(data.textContent);
  overview.sessionKeys = addressed(overview.sessions.map(({ id }) => id), overview.sessions.map(({ source }) => source));
  overview.policyKeys = addressed(overview.policies, overview.policies.map(() => ""));
  const place = element("div");

  const open = (session, policy, asked) => {
    if (view) view.close();
    const here = { session: overview.sessionKeys[session], policy: overview.policyKeys[policy] };
    view = sessionView(overview, session, asked || new URLSearchParams(here));
    if (!asked) address.change(here);
    place.replaceChildren(view.box);
    view.start().then(() => view.title.focus());
  };
  chapter.querySelectorAll(".static").forEach((table) => { table.hidden = true; });
  chapter.append(place, sessionsTable(overview, open));

  const follow = () => {
    const asked = address.read();
    const session = overview.sessionKeys.indexOf(asked.get("session"));
    if (session >= 0) open(session, 0, asked);
  };
  addEventListener("hashchange", follow);
  follow();
}

start();
