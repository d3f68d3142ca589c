// Numbers as bars in a line of a table, and many numbers as a strip of colours.

import { curve, plain, signed } from "./colours.js";
import { svg, told } from "./elements.js";
import { canvas } from "./pictures.js";

const WIDTH = 120;
const HEIGHT = 14;

// A share of 1.
export function share(value, n = 0) {
  return picture(svg("rect", { width: WIDTH * Math.min(Math.max(value, 0), 1), height: HEIGHT, fill: curve(n) }));
}

// A number to either side of 0, as a part of the largest there is.
export function aside(value, largest) {
  const length = (WIDTH / 2) * Math.min(Math.abs(value) / (largest || 1), 1);
  const x = value < 0 ? WIDTH / 2 - length : WIDTH / 2;
  return picture(
    svg("line", { x1: WIDTH / 2, x2: WIDTH / 2, y1: 0, y2: HEIGHT, stroke: plain().faint }),
    svg("rect", { x, width: length, height: HEIGHT, fill: curve(value < 0 ? 1 : 0) }),
  );
}

function picture(...parts) {
  return svg(
    "svg",
    {
      width: "100%",
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    ...parts,
  );
}

// Many numbers as a strip of colours, the largest the strongest.
export function strip(values, label) {
  const columns = Math.min(values.length, 64);
  const side = 10;
  const largest = Math.max(...values.map(Math.abs), 1e-9);
  const drawn = canvas(columns * side, Math.ceil(values.length / columns) * side, label);
  drawn.setAttribute("role", "img");
  drawn.classList.add("fits");
  values.forEach((value, i) => {
    const [x, y] = [(i % columns) * side, Math.floor(i / columns) * side];
    drawn.append(
      svg(
        "rect",
        { x, y, width: side, height: side, fill: signed(value / largest) },
        svg("title", {}, `${i + 1}: ${told(value, 4)}`),
      ),
    );
  });
  return drawn;
}
