// Elements are made here and nowhere else. Words become text, never markup: whatever stands in a transcript stays harmless.

function element(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

const button = (words, onclick, properties) => element("button", { type: "button", onclick, ...properties }, words);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
