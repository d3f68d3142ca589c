// How the models learnt: curves of all, and where the chosen one looked in one sentence, validation after validation.

import { curves } from "./curves.js";
import { h, put } from "./elements.js";
import { heatmap } from "./heatmap.js";
import { figure } from "./pictures.js";
import { t } from "./words.js";

export const NAME = "runs";
export const NEEDS_TEXT = false;

// The model whose looks are shown, and which of them; null for the last one.
const shown = { of: null, look: null };
let playing = null;

export async function show(page) {
  const runs = await page.engine.runs(page.signal);
  if (shown.of !== page.model.id) {
    stop();
    Object.assign(shown, { of: page.model.id, look: null });
  }
  draw(page, runs);
}

function draw(page, runs) {
  const learnt = runs.filter(({ validated, progress }) => validated.length + progress.length > 0);
  const of = (events, value) =>
    learnt.map((run) => ({ name: run.id, points: run[events].map((event) => [event.step, value(event)]) }));
  const chart = (name, series) => figure(name, t(name), curves(series, t(name)), series);
  const charts = () => [
    chart(
      "loss",
      of("validated", ({ scores }) => scores.loss),
    ),
    chart(
      "bleu",
      of("validated", ({ scores }) => scores.bleu),
    ),
    chart(
      "trainLoss",
      of("progress", ({ loss }) => loss),
    ),
  ];
  put(
    page.place,
    h("div", { class: "controls" }, h("button", { type: "button", onclick: page.again }, t("refresh"))),
    learnt.length === 0 ? h("p", { class: "note" }, t("noCurves")) : h("div", { class: "pair" }, charts()),
    looks(page, runs),
  );
}

function looks(page, runs) {
  const { looked } = runs.find(({ id }) => id === page.model.id);
  const head = h("h2", {}, t("overTime"));
  if (looked.length === 0) return h("section", {}, head, h("p", { class: "note" }, t("noLooks")));
  const last = looked.length - 1;
  const at = Math.min(shown.look ?? last, last);
  const look = looked[at];
  const go = (event) => {
    stop();
    shown.look = Number(event.target.value);
    draw(page, runs);
  };
  const after = t("afterUpdates", look.step);
  const range = {
    type: "range",
    min: 0,
    max: last,
    value: at,
    "aria-label": t("overTime"),
    "aria-valuetext": after,
    oninput: go,
  };
  return h(
    "section",
    { id: "over-time" },
    head,
    h(
      "div",
      { class: "controls" },
      h("input", range),
      h(
        "button",
        { type: "button", onclick: () => play(page, runs, at === last ? 0 : at, last) },
        t(playing ? "pause" : "play"),
      ),
      h("span", {}, after),
    ),
    figure("over-time", `${t("heatmap")} · ${page.model.id}, ${after}`, heatmap(look).picture, looked),
  );
}

function stop() {
  clearInterval(playing);
  playing = null;
}

function play(page, runs, from, last) {
  const was = playing;
  stop();
  if (was) return draw(page, runs);
  shown.look = from;
  playing = setInterval(() => {
    // Another view may have taken the place.
    const here = document.getElementById("over-time");
    if (!here || shown.look >= last) stop();
    else shown.look += 1;
    if (here) draw(page, runs);
  }, 400);
  draw(page, runs);
}
