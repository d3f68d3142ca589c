// A picture on the page: its caption, a way to scroll it, its numbers, and files of it.

import { plain } from "./colours.js";
import { h, svg } from "./elements.js";
import { t } from "./words.js";

export const FONT = "system-ui, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif";

// An empty picture of a size, on its own ground so that it stands anywhere.
export function canvas(width, height, label) {
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: w,
      height: h,
      viewBox: `0 0 ${w} ${h}`,
      role: "group",
      "aria-label": label,
      "font-family": FONT,
      "font-size": 14,
    },
    svg("rect", { width: w, height: h, fill: plain().paper }),
  );
}

// About how wide a text is at 14 pixels.
export function widthOf(text, size = 14) {
  let wide = 0;
  for (const letter of text)
    wide += letter.codePointAt(0) > 0x2e7f ? 1 : /[ilj.,'|]/.test(letter) ? 0.35 : /[mwMW]/.test(letter) ? 0.9 : 0.6;
  return wide * size;
}

// A picture with what belongs to it; `data` is what its JSON holds.
export function figure(name, caption, picture, data) {
  const save = (kind, make) => h("button", { type: "button", onclick: make }, kind);
  return h(
    "figure",
    { "data-picture": name },
    h("figcaption", {}, caption),
    h("div", { class: "wide" }, picture),
    h(
      "div",
      { class: "exports" },
      save("SVG", () => download(`${name}.svg`, new Blob([written(picture)], { type: "image/svg+xml" }))),
      save("PNG", async () => download(`${name}.png`, await png(picture))),
      save("JSON", () =>
        download(`${name}.json`, new Blob([JSON.stringify(data, null, 1)], { type: "application/json" })),
      ),
    ),
  );
}

// A table of numbers under a fold: for those who don't see the picture, and for those who want every digit.
export function folded(head, rows) {
  const row = (cells, tag) =>
    h(
      "tr",
      {},
      cells.map((cell, i) => h(i === 0 ? "th" : tag, { scope: i === 0 && tag === "td" ? "row" : null }, cell)),
    );
  return h(
    "details",
    {},
    h("summary", {}, t("numbers")),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        {},
        h("thead", {}, row(head, "th")),
        h(
          "tbody",
          {},
          rows.map((cells) => row(cells, "td")),
        ),
      ),
    ),
  );
}

function written(picture) {
  const copy = picture.cloneNode(true);
  for (const element of copy.querySelectorAll("[tabindex]")) element.removeAttribute("tabindex");
  return new XMLSerializer().serializeToString(copy);
}

// The same in pixels, two for each.
async function png(picture) {
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  const address = URL.createObjectURL(new Blob([written(picture)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = h("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function download(name, blob) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
