// Elements with their attributes and what is in them, and how new ones take the place of old ones.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = ["value", "checked", "disabled", "hidden"];
const HANDLERS = ["onclick", "oninput", "onchange", "onkeydown"];

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") || PROPERTIES.includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  // Text is put in as text, whatever it holds.
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

// Makes these the children of a place. Elements that are there already stay and become as the new ones are: whoever drags one,
// or has the keyboard in it, notices nothing.
export function put(place, ...children) {
  become(place, h("div", {}, children));
}

function become(old, fresh) {
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  after.forEach((child, i) => (i < before.length ? renew(before[i], child) : old.append(child)));
  before.slice(after.length).forEach((child) => child.remove());
}

function renew(old, fresh) {
  const stays = old.nodeName === fresh.nodeName && old.dataset?.focus === fresh.dataset?.focus && old.src === fresh.src;
  // Pictures hold on to their own parts.
  if (!stays || old.namespaceURI === SVG || old.nodeName === "FIGURE") return old.replaceWith(fresh);
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const name of HANDLERS) old[name] = fresh[name];
  become(old, fresh);
  // A slider that is being moved knows best where it is.
  const held = old === document.activeElement && old.type === "range";
  for (const name of PROPERTIES)
    if (name in fresh && old[name] !== fresh[name] && !(held && name === "value")) old[name] = fresh[name];
}

// A select of [value, shown] pairs with its name before it.
export function choice(name, options, value, change) {
  const select = h(
    "select",
    { "aria-label": name, onchange: (event) => change(event.target.value) },
    options.map(([value, shown]) => h("option", { value }, shown)),
  );
  select.value = value;
  return h("label", {}, h("span", {}, name), select);
}

export function tick(name, checked, change) {
  const box = { type: "checkbox", checked, onchange: (event) => change(event.target.checked) };
  return h("label", {}, h("input", box), h("span", {}, name));
}

// A number as people read it.
export function told(number, digits = 2) {
  return Number.isFinite(number)
    ? number
        .toFixed(digits)
        .replace(/^-(0(\.0+)?)$/, "$1")
        .replace("-", "−")
    : "–";
}

export function percent(share) {
  return share > 0 && share < 0.001 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`;
}
