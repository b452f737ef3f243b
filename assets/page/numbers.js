// Numbers as people read them, the same as in the report's other forms.

const grouped = (number) => String(Math.abs(number)).replace(/\B(?=(\d{3})+$)/g, ",").replace(/^/, number < 0 ? "-" : "");

function percent(millionths) {
  const tenths = Math.round(Math.abs(millionths) / 1000);
  return `${millionths < 0 && tenths > 0 ? "-" : ""}${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

function dollars(nano) {
  const decimals = Math.abs(nano) < 1e11 ? 4 : 2;
  const [whole, part] = (Math.abs(nano) / 1e9).toFixed(decimals).split(".");
  return `${nano < 0 ? "-" : ""}$${grouped(Number(whole))}.${part}`;
}

function figure(number, unit) {
  if (number === null || number === undefined) return "";
  if (unit === "share") return percent(number);
  if (unit === "money") return dollars(number);
  return grouped(number);
}

// Tokens on an axis: 0, 50k, 1.2M.
function short(tokens) {
  if (tokens === null || tokens === undefined) return "";
  const size = Math.abs(tokens);
  const trim = (number) => String(Math.round(number * 10) / 10);
  return size >= 1e6 ? `${trim(tokens / 1e6)}M` : size >= 1e3 ? `${trim(tokens / 1e3)}k` : String(tokens);
}

const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
