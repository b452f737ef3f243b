// What is looked at stands behind the # of the address, so that a view can be linked to. A fragment without "=" is a chapter.

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
