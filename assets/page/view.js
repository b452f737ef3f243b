// One session under one policy: its plots, and a walk through its calls.

const PARTS = 40;
const EVENTS = 200;

const named = (kind) => (kind === "unrecoverable" ? "failed" : kind.replaceAll("_", " "));

function sessionView(overview, place, asked) {
  const about = overview.sessions[place];
  let session;
  let walked = Math.max(0, overview.policyKeys.indexOf(asked.get("policy")));
  let call = Math.max(0, (Number(asked.get("call")) || 1) - 1);
  let range = [Number(asked.get("from")) || 0, Number(asked.get("to")) || 0];
  let plots = [];
  let drawn = false; // Plots report their first scale too, which no reader chose.
  const others = new Set(overview.policies.map((_, policy) => policy));

  const title = element("h3", { tabindex: "-1" }, `Session ${about.id || "(no id)"}`);
  const facts = element("p", { class: "looked-at" },
    [`${about.agent || "unknown agent"}, model ${about.model || "not named"}`, counted(about.calls, "call"), `window ${grouped(about.window)} tokens`,
      about.parent ? `started by session ${about.parent}` : null, about.source].filter(Boolean).join(" · "));
  const contextBox = element("div", { class: "plot", role: "img", "aria-label": "Tokens in the context over the calls of the session; the figures of each call stand below." });
  const stackBox = element("div", { class: "plot", role: "img", "aria-label": "What stood in the context over the calls; the figures of each call stand below." });
  const lineKey = element("ul", { class: "key" });
  const stackKey = element("ul", { class: "key" });
  const readout = element("p", { class: "looked-at" }, "Point at a call to read its numbers, press to walk there, drag to zoom.");
  const walk = element("div", { class: "walk" });
  const events = element("details", { open: true });
  const slider = element("input", { type: "range", min: "1", step: "1", "aria-label": "Call" });
  const where = element("output", { class: "count" });
  const box = element("section", { class: "view", "aria-label": "Session" });

  const choose = element("select", {}, ...overview.policies.map((name, policy) => element("option", { value: policy, selected: policy === walked }, name)));
  choose.addEventListener("change", () => { walked = Number(choose.value); address.change({ policy: overview.policyKeys[walked] }); draw(); });
  const picks = overview.policies.map((name, policy) => {
    const pick = element("input", { type: "checkbox", checked: true });
    pick.addEventListener("change", () => { if (pick.checked) others.add(policy); else others.delete(policy); draw(); });
    return element("label", {}, pick, name);
  });

  const go = (next) => {
    call = Math.min(Math.max(next, 0), session.output.length - 1);
    address.change({ call: call + 1 });
    plots.forEach((plot) => plot.redraw(false));
    tell();
  };
  const jump = (direction) => {
    const calls = session.policies[walked].events.concat(session.happened).map(([at]) => at).filter((at) => (direction > 0 ? at > call : at < call));
    if (calls.length) go(direction > 0 ? Math.min(...calls) : Math.max(...calls));
  };
  slider.addEventListener("input", () => go(Number(slider.value) - 1));

  function zoom(from, to) {
    const calls = session.output.length;
    const [least, most] = [Math.max(1, from), Math.min(calls + 1, to)];
    if (plots[0] && most - least >= 1) plots[0].setScale("x", { min: least, max: most });
  }
  const scaled = (factor) => {
    const { min, max } = plots[0].scales.x;
    const middle = Math.min(Math.max(call + 1.5, min), max);
    zoom(middle - (middle - min) * factor, middle + (max - middle) * factor);
  };

  const sizeOf = (size) => (size === null ? "has failed" : grouped(size));

  const watch = {
    hover(at) {
      if (!session || at === null || at === undefined) return;
      const here = Math.min(at, session.output.length - 1);
      const sizes = [...others].sort((one, other) => one - other).map((policy) => `${overview.policies[policy]} ${sizeOf(session.policies[policy].attempted[here])}`);
      const recorded = session.recorded[here];
      readout.textContent = `Call ${grouped(here + 1)}: ${[recorded === null ? null : `recorded ${grouped(recorded)}`, ...sizes].filter(Boolean).join(" · ")}`;
    },
    zoom(plot) {
      const { min, max } = plot.scales.x;
      if (!drawn || min === null || min === undefined || (range[0] === min && range[1] === max)) return;
      range = [min, max];
      const whole = min <= 1 && max >= session.output.length + 1;
      address.change({ from: whole ? null : Math.floor(min), to: whole ? null : Math.ceil(max) });
      for (const other of plots) if (other !== plot) other.setScale("x", { min, max });
    },
  };

  function keyOfLines(lines) {
    lineKey.replaceChildren(...lines.map(({ label, stroke, dash, width }) => {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      for (const [key, value] of Object.entries({ class: "swatch", viewBox: "0 0 28 12", "aria-hidden": "true" })) svg.setAttribute(key, value);
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [key, value] of Object.entries({ x1: 0, y1: 6, x2: 28, y2: 6, stroke, "stroke-width": Math.max(1.5, width), "stroke-dasharray": dash.join(" ") })) line.setAttribute(key, value);
      svg.append(line);
      return element("li", {}, svg, label);
    }), element("li", {}, "▼ the policy shrank the context"), element("li", {}, element("span", { class: "alarm" }, "✕"), "refused"),
      ...(session.happened.length ? [element("li", {}, "◇ recorded: the agent itself compacted or pruned")] : []));
  }

  function draw() {
    const wanted = range[1] > range[0] ? range : [1, session.output.length + 1];
    drawn = false;
    plots.forEach((plot) => plot.destroy());
    plots = [];
    const shown = [...others].filter((policy) => policy !== walked).sort((one, other) => one - other).concat(walked);
    const [context, lines] = contextPlot(contextBox, session, shown, overview.policies, walked, watch, () => call);
    const [stack, used] = stackPlot(stackBox, session, walked, overview.contents, watch, () => call);
    plots = [context, stack];
    keyOfLines(lines);
    stackKey.replaceChildren(...used.map((content) => {
      const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = colour(`content-${content}`);
      return element("li", {}, swatch, overview.contents[content]);
    }));
    for (const plot of plots) {
      let pressed = 0;
      plot.over.addEventListener("mousedown", (event) => { pressed = event.clientX; });
      plot.over.addEventListener("click", (event) => { if (Math.abs(event.clientX - pressed) < 4 && plot.cursor.idx !== null) go(plot.cursor.idx); });
    }
    const [min, max] = [Math.max(1, wanted[0]), Math.min(session.output.length + 1, wanted[1])];
    plots.forEach((plot) => plot.setScale("x", { min, max }));
    eventTable(session.policies[walked]);
    setTimeout(() => { drawn = true; });
    tell();
  }

  function tell() {
    const policy = session.policies[walked];
    const recorded = session.recorded[call];
    const failed = policy.actual[call] === null;
    const marks = [[2, "refused: the session fails here"], [1, "refused at first"], [4, "reply cut short"], [8, "over budget"]];
    const words = marks.filter(([mark]) => policy.marks[call] & mark && !(mark === 1 && policy.marks[call] & 2)).map(([, word]) => word);
    slider.max = String(session.output.length);
    slider.value = String(call + 1);
    slider.setAttribute("aria-valuetext", `call ${call + 1}, ${failed ? "behind the failed call" : `${grouped(policy.actual[call])} tokens`}`);
    where.textContent = `call ${grouped(call + 1)} of ${grouped(session.output.length)}`;
    const line = (name, words) => element("li", {}, `${name}: `, element("strong", {}, words));
    const numbers = failed ? element("p", {}, "The policy has failed the session before this call.") : element("ul", {}, line("context", `${grouped(policy.actual[call])} tokens`),
      policy.attempted[call] === policy.actual[call] ? null : line("at the first try", grouped(policy.attempted[call])),
      line("recorded prompt", recorded === null ? "not recorded" : grouped(recorded)),
      line("the policy's estimate", policy.belief[call] === null ? "the policy looked at no size" : grouped(policy.belief[call])),
      line("reply", grouped(session.output[call])), words.length ? element("li", { class: "alarm" }, words.join(", ")) : null);
    walk.replaceChildren(element("div", {}, element("h4", {}, `Call ${grouped(call + 1)} under ${overview.policies[walked]}`), numbers, failed ? null : contentsTable(policy)),
      element("div", {}, eventsOf(policy), arrivals()));
  }

  function contentsTable(policy) {
    const rows = overview.contents.map((name, content) => {
      const [here, whole] = [policy.stack[content][call], session.whole[content][call]];
      if (here === 0 && whole === 0) return null;
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${(5 * here) / Math.max(1, policy.actual[call])}rem`;
      bar.style.background = colour(`content-${content}`);
      return element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, grouped(here)), element("td", {}, bar),
        element("td", { class: "number" }, whole > here ? grouped(whole - here) : ""));
    });
    const head = element("tr", {}, element("th", { scope: "col" }, "what"), element("th", { scope: "col", class: "number" }, "in the context"),
      element("th", { scope: "col" }, ""), element("th", { scope: "col", class: "number" }, "taken out so far"));
    return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.filter(Boolean))));
  }

  function eventsOf(policy) {
    const events = policy.events.filter(([at]) => at === call);
    const list = events.map(([, kind, story]) => element("li", {}, element("strong", { class: ALARMS.includes(kind) ? "alarm" : null }, named(kind)), ` ${story}`));
    const itself = session.happened.filter(([at]) => at === call).map(([, , story]) => element("li", {}, story));
    return element("div", {}, element("h4", {}, "What the policy did"), list.length ? element("ul", {}, ...list) : element("p", {}, "Nothing at this call."),
      itself.length ? element("ul", {}, ...itself) : null);
  }

  // The calls at which something happened: in the recording, and under the policy that is walked through.
  function eventTable(policy) {
    const calls = [...new Set(policy.events.concat(session.happened).map(([at]) => at))].sort((one, other) => one - other).slice(0, EVENTS);
    const words = (events, at) => events.filter(([there]) => there === at).map(([, kind]) => named(kind)).join(", ");
    const size = (sizes, at) => (sizes[at] === null || sizes[at] === undefined ? "" : grouped(sizes[at]));
    const rows = calls.map((at) => element("tr", {}, element("th", { scope: "row" }, button(grouped(at + 1), () => go(at))),
      element("td", { class: "number" }, size(session.recorded, at)), element("td", { class: "name" }, words(session.happened, at)),
      element("td", { class: "number" }, size(policy.actual, at)), element("td", { class: "name" }, words(policy.events, at))));
    const heads = [["call"], ["recorded prompt", "number"], ["recorded"], ["simulated context", "number"], [`under ${overview.policies[walked]}`]];
    const head = element("tr", {}, ...heads.map(([words, kind]) => element("th", { scope: "col", class: kind || null }, words)));
    const all = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    events.replaceChildren(element("summary", {}, "Calls at which something happened"), rows.length ? element("div", { class: "scroll" }, all) : element("p", {}, "None."));
  }

  function arrivals() {
    const { first, parts, kind, tool, tokens, text, tools } = session.arrivals;
    const places = [...Array(parts[call]).keys()].map((offset) => first[call] + offset);
    const list = places.slice(0, PARTS).map((part) => {
      const name = overview.regions[kind[part]].replaceAll("_", " ");
      const of = tool[part] >= 0 ? ` of ${tools[tool[part]]}` : "";
      return element("li", {}, `${name}${of}, ${counted(tokens[part], "token")}`, text && text[part] ? element("span", { class: "excerpt" }, text[part]) : null);
    });
    if (places.length > PARTS) list.push(element("li", {}, `and ${grouped(places.length - PARTS)} more`));
    return element("div", {}, element("h4", {}, "What had come since the call before"), list.length ? element("ul", {}, ...list) : element("p", {}, "Nothing."));
  }

  const controls = element("div", { class: "controls" }, element("label", {}, "Walk under ", choose), element("span", { role: "group", "aria-label": "Policies that are drawn", class: "controls" }, ...picks));
  const steps = element("div", { class: "controls" }, button("Previous event", () => jump(-1)), slider, button("Next event", () => jump(1)), where,
    button("Zoom in", () => scaled(0.5)), button("Zoom out", () => scaled(2)), button("All calls", () => zoom(1, session.output.length + 1)));
  box.append(element("div", { class: "controls" }, button("Close", () => closeSession())), title, facts);

  const closeSession = () => {
    plots.forEach((plot) => plot.destroy());
    removeEventListener("resize", later);
    address.change({ session: null, policy: null, call: null, from: null, to: null });
    box.remove();
  };
  let waiting = 0;
  const later = () => { clearTimeout(waiting); waiting = setTimeout(() => box.isConnected && session && draw(), 150); };

  async function start() {
    session = await sessionOf(place);
    if (!session) {
      box.append(element("p", {}, "This session's calls are not in the page: make a report on its file alone to walk through them."));
      return;
    }
    box.append(controls, element("h4", {}, "Context over calls"), lineKey, contextBox, element("h4", {}, "What stood in it"), stackKey, stackBox, readout, steps, walk, events);
    call = Math.min(call, session.output.length - 1);
    draw();
    addEventListener("resize", later);
  }
  return { box, title, start, redraw: () => session && box.isConnected && draw(), close: closeSession };
}
