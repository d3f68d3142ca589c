// Two models beside each other, or one with some of its heads off.

import { share } from "./bars.js";
import { choice, h, percent, put, tick } from "./elements.js";
import { heatmap } from "./heatmap.js";
import { figure } from "./pictures.js";
import { t } from "./words.js";

export const NAME = "compare";
export const NEEDS_TEXT = true;

// The model that was chosen for all views; another one begins anew.
let of = null;
// Each side's model, and its heads, from 1, that are off.
let sides = [];

export async function show(page) {
  const { engine, place, text, model, models, signal } = page;
  const alike = models.filter(({ source, target }) => source === model.source && target === model.target);
  const known = (id) => models.find((other) => other.id === id);
  if (of !== model.id) {
    const other = alike.find(({ id }) => id !== model.id) ?? model;
    of = model.id;
    sides = [model, other].map(({ id }) => ({ model: id, without: [] }));
  }
  const found = await Promise.all(
    sides.map((side) => engine.step(side.model, text, { without: side.without }, signal)),
  );
  put(
    place,
    alike.length < 2 ? h("p", { class: "note" }, t("oneModel")) : null,
    h(
      "div",
      { class: "pair" },
      sides.map((side, i) => column(page, side, known(side.model), alike, found[i], i)),
    ),
  );
}

function column({ again }, side, model, models, found, i) {
  const change = (id) => {
    Object.assign(side, { model: id, without: [] });
    again();
  };
  const flip = (head) => (on) => {
    const without = on ? side.without.filter((n) => n !== head) : [...side.without, head];
    if (without.length < model.heads) side.without = without;
    again();
  };
  const heads = Array.from({ length: model.heads }, (_, n) => n + 1);
  const names = models.map(({ id, attention }) => [id, `${id}: ${attention}`]);
  const target = found.steps.map(({ token }) => token.piece);
  const weights = found.steps.map((step) => step.weights);
  const data = {
    model: side.model,
    without: side.without,
    source: found.source,
    target,
    weights,
    translation: found.translation,
  };
  const row = ({ token }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, token.piece),
      h("td", { class: "bar" }, share(token.probability, 2)),
      h("td", { class: "number" }, percent(token.probability)),
    );
  return h(
    "section",
    { "aria-label": t(i === 0 ? "left" : "right"), "data-side": i === 0 ? "left" : "right" },
    h("div", { class: "controls" }, choice(t(i === 0 ? "left" : "right"), names, side.model, change)),
    model.heads > 1
      ? h(
          "fieldset",
          {},
          h("legend", {}, t("headsOn")),
          h(
            "div",
            { class: "controls" },
            heads.map((head) => tick(String(head), !side.without.includes(head), flip(head))),
          ),
        )
      : null,
    h("p", { class: "translation", lang: model.target }, found.translation),
    model.looks
      ? figure(
          `alignment-${side.model}`,
          t("heatmap"),
          heatmap({ source: found.source, target, weights }).picture,
          data,
        )
      : h("p", { class: "note" }, t("unlooked")),
    h("h2", {}, t("sureness")),
    h("table", {}, h("tbody", {}, found.steps.map(row))),
  );
}
