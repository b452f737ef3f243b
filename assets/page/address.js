// What is looked at stands behind the # of the address, so that a view can be linked to. A fragment without "=" is a chapter.

// Names by which addresses know sessions and policies: their own; with more said where two have the same one, and with their place where even
// that is no difference. So a link leads to the same session after a report has been made again over more logs.
function addressed(names, more) {
  const times = new Map();
  const count = (name) => times.set(name, (times.get(name) || 0) + 1);
  const full = names.map((name, place) => `${name} ${more[place]}`.trim());
  names.forEach(count);
  full.filter((name, place) => name !== names[place]).forEach(count);
  return names.map((name, place) => [name, full[place]].find((known) => known !== "" && times.get(known) === 1) || `${full[place]} ~${place}`.trim());
}

const address = {
  read() {
    const fragment = location.hash.slice(1);
    return new URLSearchParams(fragment.includes("=") ? fragment : "");
  },
  change(changes) {
    const now = this.read();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "") now.delete(key);
      else now.set(key, value);
    }
    const words = now.toString();
    history.replaceState(null, "", words ? `#${words}` : location.pathname + location.search);
  },
};
