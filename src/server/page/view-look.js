// A translation and where each of its words looked.

import { choice, h, put, tick, told } from "./elements.js";
import { heatmap } from "./heatmap.js";
import { figure, folded } from "./pictures.js";
import { threads } from "./threads.js";
import { t } from "./words.js";

export const NAME = "look";
export const NEEDS_TEXT = true;

const chosen = { level: "auto", ends: false, head: "" };

export async function show({ engine, place, text, model, signal, again }) {
  const head = model.heads > 1 && chosen.head !== "" && Number(chosen.head) <= model.heads ? Number(chosen.head) : null;
  const nBest = Math.min(5, model.search.beam);
  const asked = { nBest, level: chosen.level, ends: chosen.ends, head };
  const found = await engine.translate(model.id, text, asked, signal);
  const change = (name) => (value) => {
    chosen[name] = value;
    again();
  };
  const heads = [["", t("mean")], ...Array.from({ length: model.heads }, (_, i) => [String(i + 1), String(i + 1)])];
  const controls = h(
    "div",
    { class: "controls" },
    choice(
      t("level"),
      [
        ["auto", t("word")],
        ["subword", t("subword")],
      ],
      chosen.level,
      change("level"),
    ),
    tick(t("withEnds"), chosen.ends, change("ends")),
    model.heads > 1 ? choice(t("head"), heads, head === null ? "" : String(head), change("head")) : null,
  );
  const translation = h("p", { class: "translation", lang: model.target, "aria-live": "polite" }, found.translation);
  put(
    place,
    translation,
    ...(found.weights.length > 0 ? [controls, pictures(found)] : [h("p", { class: "note" }, t("unlooked"))]),
    others(found),
  );
}

// Both pictures; a word that is pointed at in one is lit in both.
export function pictures(found) {
  const lights = (where) => [map, lines].forEach(({ light }) => light(where));
  const map = heatmap(found, lights);
  const lines = threads(found, lights);
  const { source, target, weights, translation } = found;
  const data = { source, target, weights, translation };
  const rows = target.map((word, r) => [word, ...weights[r].map((weight) => told(weight, 4))]);
  return h(
    "div",
    { class: "pair" },
    h("div", {}, figure("alignment", t("heatmap"), map.picture, data), folded(["", ...source], rows)),
    figure("threads", t("threads"), lines.picture, data),
  );
}

function others({ hypotheses = [] }) {
  if (hypotheses.length < 2) return null;
  const row = ({ translation, score }) =>
    h("tr", {}, h("td", {}, translation), h("td", { class: "number" }, told(score, 3)));
  return h("div", {}, h("h2", {}, t("others")), h("table", {}, h("tbody", {}, hypotheses.map(row))));
}
