// The calls of a session, unpacked when it is opened: base64, deflate, JSON, differences from call to call.

const opened = new Map();

const running = (steps) => {
  let sum = 0;
  return steps.map((step) => (step === null ? null : (sum += step)));
};

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

async function sessionOf(place) {
  if (!opened.has(place)) {
    const packed = document.getElementById(`calls-${place}`);
    if (!packed) return null;
    const session = await unpack(packed.textContent.trim());
    const whole = session.whole.map(running);
    // Behind the call at which a policy fails the session there is nothing.
    const padded = (list) => [...list, ...Array(session.output.length - list.length).fill(null)];
    for (const policy of session.policies) {
      policy.stack = policy.stack.map((steps, content) => (steps === null ? whole[content] : padded(running(steps))));
      policy.actual = padded(policy.marks.map((_, call) => policy.stack.reduce((sum, sizes) => sum + sizes[call], 0)));
      policy.attempted = policy.attempted ? padded(running(policy.attempted)) : policy.actual;
      policy.belief = padded(running(policy.belief));
    }
    let first = 0;
    session.arrivals.first = session.arrivals.parts.map((parts) => (first += parts) - parts);
    opened.set(place, { ...session, whole, recorded: running(session.recorded) });
  }
  return opened.get(place);
}
