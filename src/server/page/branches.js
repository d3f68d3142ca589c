// The tree of a beam search: steps from left to right.

import { curve, plain } from "./colours.js";
import { svg, told } from "./elements.js";
import { canvas, widthOf } from "./pictures.js";
import { t } from "./words.js";

const ROW = 26;

// The places of the best translation's nodes.
export function bestPath({ nodes, found }) {
  const path = new Set();
  for (let at = found[0]?.node ?? null; at !== null; at = nodes[at].parent) path.add(at);
  return path;
}

export function branches(tree) {
  const { nodes } = tree;
  const best = bestPath(tree);
  const depth = [];
  nodes.forEach((node, i) => depth.push(node.parent === null ? 0 : depth[node.parent] + 1));
  const rows = placed(nodes, best);
  const steps = Math.max(...depth, 0) + 1;
  const wide = Array.from(
    { length: steps },
    (_, step) => Math.max(...nodes.map((node, i) => (depth[i] === step ? widthOf(node.piece, 13) : 0)), 12) + 74,
  );
  const left = wide.reduce((all, width) => [...all, all[all.length - 1] + width], [24]);
  const picture = canvas(left[steps] + 8, (Math.max(...rows, 0) + 1) * ROW + 16, t("treeCaption"));
  const at = (i) => [left[depth[i]], rows[i] * ROW + 22];
  const isPale = (i) => !best.has(i) && ["given-up", "outrun"].includes(nodes[i].fate);
  const colour = (i) => (best.has(i) ? plain().accent : isPale(i) ? plain().faint : plain().link);
  nodes.forEach((node, i) => {
    const [x, y] = at(i);
    const [fromX, fromY] =
      node.parent === null
        ? [8, 22]
        : [at(node.parent)[0] + widthOf(nodes[node.parent].piece, 13) + 32, at(node.parent)[1]];
    const middle = (fromX + x) / 2;
    picture.append(
      svg("path", {
        d: `M${fromX} ${fromY - 4}C${middle} ${fromY - 4} ${middle} ${y - 4} ${x - 4} ${y - 4}`,
        fill: "none",
        stroke: colour(i),
        "stroke-width": best.has(i) ? 2.5 : 1,
        "stroke-opacity": isPale(i) ? 0.5 : 1,
      }),
    );
  });
  const groups = nodes.map((node, i) => {
    const [x, y] = at(i);
    const p = Math.exp(node.log_prob - (node.parent === null ? 0 : nodes[node.parent].log_prob));
    const label = `${node.piece}: p = ${told(p, 3)}, ${t("logProb")} ${told(node.log_prob, 2)}, ${best.has(i) ? t("best") : t(node.fate)}`;
    return svg(
      "g",
      {
        tabindex: i === 0 ? 0 : -1,
        role: "img",
        "aria-label": label,
        "data-node": i,
        "data-fate": node.fate,
        "data-best": best.has(i) ? "" : null,
      },
      svg("title", {}, label),
      svg("rect", {
        x: x - 3,
        y: y - 15,
        width: widthOf(node.piece, 13) + 8,
        height: 20,
        rx: 3,
        fill: plain().paper,
        stroke: node.fate === "ends" ? curve(2) : "none",
      }),
      svg(
        "text",
        {
          x,
          y,
          "font-size": 13,
          fill: isPale(i) ? plain().faint : plain().ink,
          "font-weight": best.has(i) ? 700 : 400,
        },
        node.piece,
      ),
      svg("text", { x: x + widthOf(node.piece, 13) + 6, y, "font-size": 10, fill: plain().faint }, told(p)),
    );
  });
  picture.append(...groups);
  picture.addEventListener("keydown", (event) => {
    const from = Number(event.target.closest("[data-node]")?.dataset.node ?? NaN);
    const next = moved(nodes, from, event.key);
    if (next === null) return;
    event.preventDefault();
    groups[from].setAttribute("tabindex", -1);
    groups[next].setAttribute("tabindex", 0);
    groups[next].focus();
  });
  return picture;
}

// A row for each branch's end, the best first; a parent stands in the row of its first child.
function placed(nodes, best) {
  const children = nodes.map(() => []);
  const roots = [];
  nodes.forEach((node, i) => (node.parent === null ? roots : children[node.parent]).push(i));
  const order = (all) => all.sort((a, b) => best.has(b) - best.has(a) || nodes[b].log_prob - nodes[a].log_prob);
  const rows = [];
  let next = 0;
  // Without recursion: translations may be long.
  const open = order(roots)
    .reverse()
    .map((root) => [root, true]);
  while (open.length > 0) {
    const [node, first] = open.pop();
    rows[node] = first && nodes[node].parent !== null ? rows[nodes[node].parent] : next;
    next = Math.max(next, rows[node] + 1);
    order(children[node])
      .map((child, i) => [child, i === 0])
      .reverse()
      .forEach((child) => open.push(child));
  }
  return rows;
}

// The node that a key leads to: to the parent, the first child, or the sibling before or after.
function moved(nodes, from, key) {
  if (Number.isNaN(from)) return null;
  const siblings = nodes.map((_, i) => i).filter((i) => nodes[i].parent === nodes[from].parent);
  const next = {
    ArrowLeft: nodes[from].parent,
    ArrowRight: nodes.findIndex((node) => node.parent === from),
    ArrowUp: siblings[siblings.indexOf(from) - 1],
    ArrowDown: siblings[siblings.indexOf(from) + 1],
  }[key];
  return next === undefined || next === null || next < 0 ? null : next;
}
