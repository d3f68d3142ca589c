// The tree of a beam search.

import { branches } from "./branches.js";
import { h, put, told } from "./elements.js";
import { figure, folded } from "./pictures.js";
import { t } from "./words.js";

export const NAME = "tree";
export const NEEDS_TEXT = true;

const MOST = 16;
let beam = 4;

export async function show({ engine, place, text, model, signal, again }) {
  const tree = await engine.tree(model.id, text, beam, signal);
  const change = (event) => {
    beam = Math.min(Math.max(Number(event.target.value) || 1, 1), MOST);
    again();
  };
  const number = h("input", { type: "number", min: 1, max: MOST, value: beam, id: "beam", onchange: change });
  const found = ({ translation, score, log_prob }, i) =>
    h(
      "tr",
      {},
      h("td", {}, i === 0 ? h("b", {}, translation) : translation),
      h("td", { class: "number" }, told(log_prob, 3)),
      h("td", { class: "number" }, told(score, 3)),
    );
  const head = h(
    "tr",
    {},
    [t("translation"), t("logProb"), t("score")].map((name, i) => h("th", { class: i > 0 ? "number" : null }, name)),
  );
  const rows = tree.nodes.map((node, i) => [
    String(i),
    node.parent === null ? "–" : String(node.parent),
    node.piece,
    told(node.log_prob, 3),
    t(node.fate),
  ]);
  put(
    place,
    h("div", { class: "controls" }, h("label", {}, h("span", {}, t("beam")), number)),
    figure("tree", t("treeCaption"), branches(tree), tree),
    h("h2", {}, t("found")),
    h(
      "div",
      { class: "wide" },
      h("table", { class: "found" }, h("thead", {}, head), h("tbody", {}, tree.found.map(found))),
    ),
    folded(["#", "↑", t("piece"), t("logProb"), ""], rows),
  );
}
