// Curves over updates.

import { curve, plain } from "./colours.js";
import { svg, told } from "./elements.js";
import { canvas } from "./pictures.js";
import { t } from "./words.js";

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [560, 260, 52, 12, 40];

// Series: { name, points: [[x, y], …] }; points that are no numbers are left out.
export function curves(series, label) {
  const drawn = series.map(({ name, points }) => ({ name, points: points.filter(([, y]) => Number.isFinite(y)) }));
  const all = drawn.flatMap(({ points }) => points);
  const legend = drawn.length * 18;
  const picture = canvas(WIDTH, HEIGHT + TOP + BOTTOM + legend, label);
  picture.setAttribute("role", "img");
  picture.classList.add("fits");
  if (all.length === 0) return picture;
  const [right, low, high] = [
    Math.max(...all.map(([x]) => x), 1),
    Math.min(...all.map(([, y]) => y)),
    Math.max(...all.map(([, y]) => y)),
  ];
  const ticks = steps(low, high);
  const [from, to] = [ticks[0], ticks[ticks.length - 1]];
  const x = (value) => LEFT + (value / right) * (WIDTH - LEFT - 14);
  const y = (value) => TOP + HEIGHT - ((value - from) / (to - from || 1)) * HEIGHT;
  const text = (value, at, up, anchor) =>
    svg("text", { x: at, y: up, "font-size": 12, "text-anchor": anchor, fill: plain().faint }, value);
  const digits = Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0] || 1)));
  for (const tick of ticks) {
    picture.append(
      svg("line", { x1: LEFT, x2: WIDTH - 14, y1: y(tick), y2: y(tick), stroke: plain().grid }),
      text(told(tick, digits), LEFT - 6, y(tick) + 4, "end"),
    );
  }
  for (const tick of steps(0, right).filter((tick) => tick <= right))
    picture.append(text(String(tick), x(tick), TOP + HEIGHT + 18, "middle"));
  picture.append(text(t("update"), WIDTH - 14, TOP + HEIGHT + 34, "end"));
  drawn.forEach(({ name, points }, n) => {
    const d = points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    picture.append(svg("path", { d, fill: "none", stroke: curve(n), "stroke-width": 2 }));
    points.forEach(
      ([a, b]) =>
        points.length <= 60 &&
        picture.append(
          svg("circle", { cx: x(a), cy: y(b), r: 3, fill: curve(n) }, svg("title", {}, `${name}, ${a}: ${told(b, 3)}`)),
        ),
    );
    const up = TOP + HEIGHT + BOTTOM + 14 + n * 18;
    picture.append(
      svg("rect", { x: LEFT, y: up - 10, width: 16, height: 4, fill: curve(n) }),
      svg("text", { x: LEFT + 24, y: up - 3, "font-size": 13, fill: plain().ink }, name),
    );
  });
  return picture;
}

// Round numbers from below the least to above the most.
function steps(low, high) {
  const rough = (high - low || 1) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((step) => step >= rough);
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
