// The two plots of a session, by uPlot: context over calls, and what stood in it. A call is as wide as a step.

const SHRINKS = ["prune", "compact", "drop", "reset"];
const ALARMS = ["overflow", "unrecoverable", "summariser_overflow"];

const lineColour = (place) => colour(`line-${place % 8}`);
const DASHES = [[], [9, 4], [2, 3], [9, 3, 2, 3], [14, 4], [5, 5], [2, 6], [12, 3, 2, 3, 2, 3]];

// Each plot gets one more place than there are calls, so that the last call has a width too.
const stretched = (numbers) => [...numbers, numbers[numbers.length - 1]];

function plotOptions(box, calls, height, series, watch, drawing) {
  const stepped = uPlot.paths.stepped({ align: 1 });
  const axis = { stroke: colour("quiet"), grid: { stroke: colour("rule"), width: 1 }, ticks: { stroke: colour("rule") }, font: "12px system-ui, sans-serif" };
  return {
    width: Math.max(260, box.clientWidth), height, legend: { show: false },
    scales: { x: { time: false }, y: { range: (plot, least, most) => [0, Math.max(1, most) * 1.06] } },
    axes: [{ ...axis, values: (plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) && tick <= calls ? grouped(tick) : "")) },
      { ...axis, size: 58, values: (plot, ticks) => ticks.map(short) }],
    series: [{}, ...series.map((one) => ({ points: { show: false }, paths: stepped, ...one }))],
    cursor: { sync: { key: "calls" }, drag: { x: true, y: false, dist: 6 }, points: { show: false } },
    hooks: { draw: [drawing], setCursor: [(plot) => watch.hover(plot.cursor.idx)], setScale: [(plot, key) => key === "x" && watch.zoom(plot)] },
  };
}

function upright(plot, call, name, width) {
  const x = plot.valToPos(call + 1.5, "x", true);
  const { left, top, width: wide, height } = plot.bbox;
  if (x < left || x > left + wide) return;
  plot.ctx.save();
  plot.ctx.setLineDash([]);
  Object.assign(plot.ctx, { strokeStyle: colour(name), lineWidth: width * devicePixelRatio, globalAlpha: 0.75 });
  plot.ctx.beginPath();
  plot.ctx.moveTo(x, top);
  plot.ctx.lineTo(x, top + height);
  plot.ctx.stroke();
  plot.ctx.restore();
}

function across(plot, tokens, words) {
  const y = plot.valToPos(tokens, "y", true);
  const { left, top, width } = plot.bbox;
  if (y < top) return;
  const { ctx } = plot;
  ctx.save();
  Object.assign(ctx, { strokeStyle: colour("limit"), fillStyle: colour("limit"), lineWidth: devicePixelRatio, font: `${12 * devicePixelRatio}px system-ui, sans-serif`, textAlign: "left" });
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(left, y);
  ctx.lineTo(left + width, y);
  ctx.stroke();
  ctx.fillText(words, left + 6 * devicePixelRatio, y > top + 18 * devicePixelRatio ? y - 4 * devicePixelRatio : y + 14 * devicePixelRatio);
  ctx.restore();
}

// Triangles where the policy shrank the context, crosses where the provider refused.
function eventMarks(plot, policy) {
  const { ctx } = plot;
  const size = 5 * devicePixelRatio;
  const { left, width } = plot.bbox;
  ctx.save();
  ctx.setLineDash([]);
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const [call, kind] of policy.events) {
    const shrinks = SHRINKS.includes(kind);
    if (!shrinks && !ALARMS.includes(kind)) continue;
    const x = plot.valToPos(call + 1.5, "x", true);
    if (x < left || x > left + width) continue;
    const y = plot.valToPos(shrinks ? policy.actual[call] : policy.attempted[call], "y", true);
    ctx.beginPath();
    if (shrinks) {
      ctx.fillStyle = colour("text");
      ctx.moveTo(x - size, y - 2.2 * size);
      ctx.lineTo(x + size, y - 2.2 * size);
      ctx.lineTo(x, y - 0.4 * size);
      ctx.fill();
    } else {
      ctx.strokeStyle = colour("alarm");
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x + size, y - size);
      ctx.lineTo(x - size, y + size);
      ctx.stroke();
    }
  }
  ctx.restore();
}

// Squares on their corner where the recording agent itself compacted or pruned, at its next recorded prompt.
function recordedMarks(plot, session) {
  const { ctx } = plot;
  const size = 6 * devicePixelRatio;
  const { left, width } = plot.bbox;
  ctx.save();
  ctx.setLineDash([]);
  Object.assign(ctx, { strokeStyle: colour("recorded"), fillStyle: colour("ground"), lineWidth: 2 * devicePixelRatio });
  for (const [call] of session.happened) {
    const x = plot.valToPos(call + 1.5, "x", true);
    if (x < left || x > left + width || session.recorded[call] === null || session.recorded[call] === undefined) continue;
    const y = plot.valToPos(session.recorded[call], "y", true);
    ctx.beginPath();
    ctx.moveTo(x, y - size);
    ctx.lineTo(x + size, y);
    ctx.lineTo(x, y + size);
    ctx.lineTo(x - size, y);
    ctx.closePath();
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}

// Recorded prompts and the context under each policy that is shown; the one that is walked through is thick, its estimate thin.
function contextPlot(box, session, policies, names, walked, watch, selected) {
  const calls = session.output.length;
  const lines = [{ label: "recorded", stroke: colour("recorded"), width: 1, dash: [3, 3], data: session.recorded, provenance: "recorded" }];
  policies.forEach((place) => {
    const policy = session.policies[place];
    lines.push({ label: names[place], stroke: lineColour(place), dash: place === walked ? [] : DASHES[place % 8], width: place === walked ? 2.5 : 1.5, data: policy.attempted });
  });
  const policy = session.policies[walked];
  lines.push({ label: `estimate of ${names[walked]}`, stroke: colour("quiet"), dash: [2, 4], width: 1, data: policy.belief });
  const data = [stretched([...Array(calls).keys()].map((call) => call + 1)), ...lines.map((line) => stretched(line.data))];
  data[0][calls] = calls + 1;
  const most = Math.max(...lines.map((line) => line.data.reduce((most, size) => Math.max(most, size || 0), 0)));
  const options = plotOptions(box, calls, 300, lines.map(({ label, stroke, width, dash }) => ({ label, stroke, width, dash })), watch, (plot) => {
    const room = most > 0.4 * policy.window;
    if (room) across(plot, policy.limit, policy.limit < policy.window ? `largest prompt ${short(policy.limit)}` : `window ${short(policy.window)}`);
    recordedMarks(plot, session);
    eventMarks(plot, policy);
    upright(plot, selected(), "accent", 1.5);
  });
  if (most > 0.4 * policy.window) options.scales.y.range = (plot, least, top) => [0, Math.max(top, policy.limit) * 1.08];
  return [new uPlot(options, data, box), lines];
}

// What stood in the prompt, one above the other. The tallest sum is painted first and the others over it.
function stackPlot(box, session, walked, contents, watch, selected) {
  const policy = session.policies[walked];
  const calls = session.output.length;
  const sums = [];
  policy.stack.forEach((sizes, place) => sums.push(sizes.map((size, call) => (size === null ? null : size + (place ? sums[place - 1][call] : 0)))));
  const used = contents.map((_, place) => place).filter((place) => policy.stack[place].some((size) => size > 0)).reverse();
  const data = [[...Array(calls + 1).keys()].map((call) => call + 1), ...used.map((place) => stretched(sums[place]))];
  const series = used.map((place) => ({ label: contents[place], stroke: colour("ground"), width: 0.5, fill: colour(`content-${place}`) }));
  const options = plotOptions(box, calls, 260, series, watch, (plot) => upright(plot, selected(), "text", 1.5));
  return [new uPlot(options, data, box), used];
}
