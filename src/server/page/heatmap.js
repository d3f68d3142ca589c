// Weights as a heat map: a row for each word written, a column for each word read.

import { onWeight, plain, weight as shade } from "./colours.js";
import { svg, told } from "./elements.js";
import { canvas, widthOf } from "./pictures.js";
import { t } from "./words.js";

// `lights` is told which row and column are pointed at, null for none; `light` shows it, whoever pointed.
export function heatmap({ source, target, weights }, lights = () => {}) {
  const cell = source.length > 24 || target.length > 24 ? 20 : source.length > 12 ? 30 : 40;
  const size = cell < 30 ? 11 : 14;
  const left = 12 + Math.max(...target.map((word) => widthOf(word, size)), 20);
  const upright = source.some((word) => widthOf(word, size) > cell + 4);
  const wide = source.map((word) => (upright ? (widthOf(word, size) + size) * 0.68 : widthOf(word, size) / 2));
  const high = source.map((word) => (upright ? widthOf(word, size) * 0.76 + size : size));
  const top = 14 + Math.max(...high);
  // The last words may lean out to the right.
  const right = Math.max(8, ...wide.map((wide, s) => wide - (source.length - s - 0.5) * cell + 4));
  const picture = canvas(left + cell * source.length + right, top + cell * target.length + 8, t("heatmap"));
  const x = (s) => left + s * cell;
  const y = (r) => top + r * cell;
  const words = { columns: [], rows: [] };
  source.forEach((word, s) => {
    const [at, up] = [x(s) + cell / 2, top - 8];
    const turned = upright
      ? { transform: `rotate(-48 ${at} ${up})`, "text-anchor": "start" }
      : { "text-anchor": "middle" };
    words.columns.push(svg("text", { x: at, y: up, "font-size": size, fill: plain().ink, ...turned }, word));
  });
  target.forEach((word, r) => {
    words.rows.push(
      svg(
        "text",
        { x: left - 6, y: y(r) + cell / 2 + size * 0.35, "font-size": size, "text-anchor": "end", fill: plain().ink },
        word,
      ),
    );
  });
  picture.append(...words.columns, ...words.rows);

  const cells = weights.map((row, r) =>
    row.map((value, s) => {
      const label = t("cell", target[r], source[s], told(value, 3));
      return svg(
        "g",
        { tabindex: r === 0 && s === 0 ? 0 : -1, role: "img", "aria-label": label, "data-row": r, "data-column": s },
        svg("title", {}, label),
        svg("rect", {
          x: x(s),
          y: y(r),
          width: cell,
          height: cell,
          fill: shade(value),
          stroke: plain().grid,
          "stroke-width": 1,
        }),
        cell >= 30 && value >= 0.005
          ? svg(
              "text",
              {
                x: x(s) + cell / 2,
                y: y(r) + cell / 2 + 4,
                "font-size": 11,
                "text-anchor": "middle",
                fill: onWeight(value),
                "pointer-events": "none",
              },
              told(value),
            )
          : null,
      );
    }),
  );
  picture.append(...cells.flat());
  const place = (event) => {
    const found = event.target.closest("[data-row]");
    return found && { row: Number(found.dataset.row), column: Number(found.dataset.column) };
  };
  picture.addEventListener("pointerover", (event) => lights(place(event) ?? { row: null, column: null }));
  picture.addEventListener("pointerleave", () => lights({ row: null, column: null }));
  picture.addEventListener("focusin", (event) => place(event) && lights(place(event)));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const from = place(event);
    const next = step && from && cells[from.row + step[0]]?.[from.column + step[1]];
    if (!next) return;
    event.preventDefault();
    cells[from.row][from.column].setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });

  const light = ({ row, column }) => {
    const is = (place, all) => (place === null || place === undefined ? all : false);
    words.rows.forEach((word, r) => word.setAttribute("font-weight", r === row ? 700 : 400));
    words.columns.forEach((word, s) => word.setAttribute("font-weight", s === column ? 700 : 400));
    cells.forEach((line, r) =>
      line.forEach((group, s) => {
        const lit = is(row, is(column, true) || s === column) || r === row || (column !== null && s === column);
        group.setAttribute("opacity", lit ? 1 : 0.35);
      }),
    );
  };
  return { picture, light };
}
