// A translation step by step: what each step asked, how well each piece answered, what it saw, what it wrote. Another word can be
// written, and a step can be told where to look.

import { aside, share, strip } from "./bars.js";
import { choice, h, percent, put, tick, told } from "./elements.js";
import { figure } from "./pictures.js";
import { t } from "./words.js";

export const NAME = "steps";
export const NEEDS_TEXT = true;

// What is wished of which sentence: it begins anew with another one.
let wishes = fresh("");
// The step that is shown, from 0, and the head, from 0; null for all.
let at = 0;
let head = null;

function fresh(of) {
  return { of, written: [], instead: {}, without: [] };
}

export async function show(page) {
  const { engine, text, model, signal } = page;
  const of = JSON.stringify([model.id, text]);
  if (wishes.of !== of) {
    wishes = fresh(of);
    at = 0;
    head = null;
  }
  const { written, instead, without } = wishes;
  const told = Object.keys(instead).length > 0;
  const found = told
    ? await engine.override(model.id, text, { written, instead, without }, signal)
    : await engine.step(model.id, text, { written, without }, signal);
  at = Math.min(at, found.steps.length - 1);
  draw(page, found);
}

function draw(page, found) {
  const { place, model } = page;
  const step = found.steps[at];
  put(
    place,
    h("p", { class: "translation", lang: model.target, "aria-live": "polite" }, found.translation),
    slider(page, found),
    words(page, found),
    model.heads > 1 ? heads(page, found) : null,
    h("h2", {}, t("next")),
    next(page, found, step),
    step.weights.length > 0 ? where(page, found, step) : h("p", { class: "note" }, t("unlooked")),
    vectors(step),
  );
}

function slider(page, found) {
  const go = (event) => {
    at = Number(event.target.value) - 1;
    draw(page, found);
  };
  const range = {
    type: "range",
    min: 1,
    max: found.steps.length,
    value: at + 1,
    "data-focus": "slider",
    "aria-label": t("stepSlider"),
    oninput: go,
  };
  const own = wishes.written.length === 0 && Object.keys(wishes.instead).length === 0;
  const back = () => {
    Object.assign(wishes, { written: [], instead: {} });
    page.again();
  };
  return h(
    "div",
    { class: "controls" },
    h("input", { ...range, "aria-valuetext": `${at + 1}: ${found.steps[at].token.piece}` }),
    h("span", {}, t("step", at + 1, found.steps.length)),
    h("button", { type: "button", disabled: own, "data-focus": "own", onclick: back }, t("ownAgain")),
  );
}

// The pieces that are written, each a way to its step.
function words(page, found) {
  const word = (step, i) => {
    const wished = i < wishes.written.length && i === wishes.written.length - 1;
    const go = () => {
      at = i;
      draw(page, found);
    };
    const state = {
      "aria-pressed": String(i === at),
      class: wished || step.told ? "chosen" : null,
      "data-focus": `word-${i}`,
    };
    return h(
      "li",
      {},
      h("button", { type: "button", ...state, title: percent(step.token.probability), onclick: go }, step.token.piece),
    );
  };
  return h("ol", { class: "words", "aria-label": t("written") }, found.steps.map(word));
}

function heads(page, found) {
  const all = Array.from({ length: page.model.heads }, (_, i) => i);
  const shown = [["", t("mean")], ...all.map((i) => [String(i), String(i + 1)])];
  const choose = (value) => {
    head = value === "" ? null : Number(value);
    draw(page, found);
  };
  const flip = (i) => (on) => {
    const without = on ? wishes.without.filter((n) => n !== i + 1) : [...wishes.without, i + 1];
    if (without.length < page.model.heads) wishes.without = without;
    page.again();
  };
  return h(
    "div",
    { class: "controls" },
    choice(t("head"), shown, head === null ? "" : String(head), choose),
    h(
      "fieldset",
      {},
      h("legend", {}, t("headsOn")),
      h(
        "div",
        { class: "controls" },
        all.map((i) => tick(String(i + 1), !wishes.without.includes(i + 1), flip(i))),
      ),
    ),
  );
}

// The likeliest next pieces. Choosing one writes it here; what comes after is the model's.
function next(page, found, step) {
  const choose = (candidate) => () => {
    wishes.written = [...found.steps.slice(0, at).map(({ token }) => token.id), candidate.id];
    wishes.instead = Object.fromEntries(Object.entries(wishes.instead).filter(([place]) => Number(place) <= at));
    page.again();
  };
  const row = (candidate, i) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          {
            type: "button",
            "data-focus": `next-${i}`,
            "aria-pressed": String(candidate.id === step.token.id),
            "aria-label": t("chooseNext", candidate.piece, percent(candidate.probability)),
            onclick: choose(candidate),
          },
          candidate.piece,
        ),
      ),
      h("td", { class: "bar" }, share(candidate.probability, 2)),
      h("td", { class: "number" }, percent(candidate.probability)),
    );
  const known = step.next.some(({ id }) => id === step.token.id);
  return h("table", { class: "next" }, h("tbody", {}, [...step.next, ...(known ? [] : [step.token])].map(row)));
}

// A line for each piece of the source: its score before softmax, its weight after, its share of the context.
function where(page, found, step) {
  const several = step.heads.length > 0;
  const weights = several && head !== null ? step.heads[head] : step.weights;
  const scores = several && head === null ? null : step.scores[head ?? 0];
  const largest = scores ? Math.max(...scores.map(Math.abs)) : 1;
  const set = (weights) => {
    wishes.written = found.steps.slice(0, at).map(({ token }) => token.id);
    wishes.instead = {
      ...Object.fromEntries(Object.entries(wishes.instead).filter(([place]) => Number(place) < at)),
      [at]: weights,
    };
    page.again();
  };
  const drag = (s) => (event) => set(moved(weights, s, Number(event.target.value)));
  const only = (s) => () => set(weights.map((_, i) => (i === s ? 1 : 0)));
  const row = (piece, s) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, piece),
      h("td", { class: "bar shown-wide" }, scores ? aside(scores[s], largest) : null),
      h("td", { class: "number" }, scores ? told(scores[s]) : "–"),
      h(
        "td",
        { class: "bar" },
        h("input", {
          type: "range",
          min: 0,
          max: 1,
          step: 0.01,
          value: weights[s],
          "aria-label": t("weightOf", piece),
          "data-focus": `weight-${s}`,
          oninput: drag(s),
        }),
      ),
      h("td", { class: "number" }, told(weights[s])),
      h("td", { class: "bar shown-wide" }, share(step.parts[s], 0)),
      h("td", { class: "number" }, percent(step.parts[s])),
      h(
        "td",
        {},
        h(
          "button",
          { type: "button", "aria-label": t("onlyAt", piece), title: t("onlyAt", piece), onclick: only(s) },
          "◎",
        ),
      ),
    );
  const own = () => {
    delete wishes.instead[at];
    page.again();
  };
  const columns = [
    [t("piece"), null],
    [t("score"), "shown-wide"],
    [t("score"), "number shown-narrow"],
    [t("weight"), null],
    ["", null],
    [t("part"), "shown-wide"],
    [t("part"), "shown-narrow"],
    ["", null],
  ];
  return h(
    "section",
    {},
    h("h2", {}, t("where")),
    h(
      "p",
      { class: step.told ? "note" : "" },
      step.told ? `${t("told")} ` : several && head === null ? t("headsMean") : t("beforeSoftmax"),
      step.told ? h("button", { type: "button", onclick: own }, t("ownLook")) : null,
    ),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "where" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            columns.map(([name, kind]) => h("th", { class: kind }, name)),
          ),
        ),
        h("tbody", {}, found.source.map(row)),
      ),
    ),
  );
}

// Weights where one is moved and the others make room for it, in proportion.
export function moved(weights, s, to) {
  const rest = weights.reduce((sum, weight, i) => sum + (i === s ? 0 : weight), 0);
  const others = weights.length - 1;
  if (others === 0) return [1];
  return weights.map((weight, i) => (i === s ? to : rest > 0 ? (weight * (1 - to)) / rest : (1 - to) / others));
}

function vectors(step) {
  const one = (name, values) => {
    const label = t(name, values.length);
    const all = h(
      "details",
      {},
      h("summary", {}, t("numbers")),
      h("pre", {}, values.map((value) => told(value, 4)).join("  ")),
    );
    return h("div", {}, figure(name, label, strip(values, label), values), all);
  };
  return h("div", { class: "pair" }, one("query", step.query), one("context", step.context));
}
