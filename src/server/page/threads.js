// Weights as threads between two lines of words: the words read above, the words written below. A word lights its partners.

import { plain } from "./colours.js";
import { svg, told } from "./elements.js";
import { canvas, widthOf } from "./pictures.js";
import { t } from "./words.js";

const GAP = 18;
const HEIGHT = 130;

// Weights below this are no thread.
const LEAST = 0.02;

export function threads({ source, target, weights }, lights = () => {}) {
  const widths = [source, target].map((words) => words.map((word) => widthOf(word, 16)));
  const whole = widths.map((line) => line.reduce((sum, width) => sum + width + GAP, -GAP));
  const width = Math.max(...whole, 40) + 24;
  const picture = canvas(width, HEIGHT + 56, t("threads"));
  const places = widths.map((line) => {
    let at = 12;
    return line.map((width) => {
      const middle = at + width / 2;
      at += width + GAP;
      return middle;
    });
  });
  const [above, below] = [32, HEIGHT + 24];
  const lines = [];
  weights.forEach((row, r) =>
    row.forEach((value, s) => {
      if (value < LEAST) return;
      const [from, to, middle] = [places[0][s], places[1][r], (above + below) / 2];
      const d = `M${from} ${above}C${from} ${middle} ${to} ${middle} ${to} ${below}`;
      const line = svg("path", {
        d,
        fill: "none",
        stroke: plain().link,
        "stroke-width": 1 + 4 * value,
        "stroke-opacity": 0.15 + 0.85 * value,
      });
      lines.push({ row: r, column: s, value, line });
    }),
  );
  picture.append(...lines.map(({ line }) => line));

  const word = (text, at, up, place, label) =>
    svg(
      "g",
      { tabindex: 0, role: "img", "aria-label": label, "data-row": place.row ?? "", "data-column": place.column ?? "" },
      svg("rect", {
        x: at - widthOf(text, 16) / 2 - 5,
        y: up - 19,
        width: widthOf(text, 16) + 10,
        height: 27,
        rx: 4,
        fill: plain().paper,
      }),
      svg("text", { x: at, y: up, "font-size": 16, "text-anchor": "middle", fill: plain().ink }, text),
    );
  const strongest = (values, names) => {
    const order = values.map((value, i) => [value, names[i]]).sort((a, b) => b[0] - a[0]);
    return order
      .slice(0, 3)
      .filter(([value]) => value >= LEAST)
      .map(([value, name]) => `${name} ${told(value)}`)
      .join(", ");
  };
  const columns = source.map((text, s) =>
    word(
      text,
      places[0][s],
      above - 8,
      { column: s },
      `${text}: ${strongest(
        weights.map((row) => row[s]),
        target,
      )}`,
    ),
  );
  const rows = target.map((text, r) =>
    word(text, places[1][r], below + 18, { row: r }, `${text}: ${strongest(weights[r] ?? [], source)}`),
  );
  picture.append(...columns, ...rows);
  const place = (event) => {
    const found = event.target.closest("[data-row]");
    const number = (text) => (text === "" ? null : Number(text));
    return found
      ? { row: number(found.dataset.row), column: number(found.dataset.column) }
      : { row: null, column: null };
  };
  picture.addEventListener("pointerover", (event) => lights(place(event)));
  picture.addEventListener("pointerleave", () => lights({ row: null, column: null }));
  picture.addEventListener("focusin", (event) => lights(place(event)));
  picture.addEventListener("focusout", () => lights({ row: null, column: null }));

  const light = ({ row, column }) => {
    const dark = row === null && column === null;
    const partners = { rows: new Set(), columns: new Set() };
    for (const thread of lines) {
      const lit = dark || thread.row === row || thread.column === column;
      thread.line.setAttribute("stroke-opacity", lit ? 0.15 + 0.85 * thread.value : 0.04);
      if (lit && !dark && thread.value >= 0.1) {
        partners.rows.add(thread.row);
        partners.columns.add(thread.column);
      }
    }
    const show = (groups, own, others) =>
      groups.forEach((group, i) => {
        group.toggleAttribute("data-lit", !dark && (i === own || others.has(i)));
        group.querySelector("text").setAttribute("font-weight", !dark && (i === own || others.has(i)) ? 700 : 400);
        group.querySelector("text").setAttribute("opacity", dark || i === own || others.has(i) ? 1 : 0.4);
      });
    show(columns, column, partners.columns);
    show(rows, row, partners.rows);
  };
  return { picture, light };
}
