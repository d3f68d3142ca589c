// The page: a sentence, a model, and a view of what the model does with it.

import { onGround } from "./colours.js";
import { h } from "./elements.js";
import { Refused, ServerEngine } from "./engine.js";
import { speak, spoken, t } from "./words.js";
import * as look from "./view-look.js";
import * as steps from "./view-steps.js";
import * as tree from "./view-tree.js";
import * as compare from "./view-compare.js";
import * as lessons from "./view-lessons.js";
import * as runs from "./view-runs.js";

// A view: its name among the words, how it is shown, and whether it needs a sentence.
const VIEWS = [look, steps, tree, compare, lessons, runs];

const at = (id) => document.getElementById(id);
const engine = new ServerEngine();
const state = { models: [], view: look, showing: null, wanted: false };

// What is kept from visit to visit; a browser may refuse to.
const kept = {
  get(name) {
    try {
      return localStorage.getItem(`zhuyi-${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`zhuyi-${name}`, value);
    } catch {
      // Then it is forgotten.
    }
  },
};

function model() {
  return state.models.find(({ id }) => id === at("model").value) ?? state.models[0];
}

function say(message, wrong = false) {
  at("status").textContent = message;
  at("status").classList.toggle("wrong", wrong);
  // What is shown belongs to something else then.
  at("view").classList.toggle("stale", wrong);
}

// Runs something that asks the engine; what was being asked before is given up. What goes wrong is said; what was typed stays.
async function asking(ask) {
  state.showing?.abort();
  const showing = new AbortController();
  Object.assign(state, { showing, wanted: false });
  const slow = setTimeout(() => say(t("working")), SLOW);
  at("view").setAttribute("aria-busy", "true");
  try {
    await ask(showing.signal);
    if (state.showing === showing) say("");
  } catch (why) {
    if (why.name === "AbortError" || state.showing !== showing) return;
    if (!(why instanceof Refused)) throw why;
    if (why.status === 401 || why.status === 403) at("key-field").hidden = false;
    say(why.status === 0 ? t("offline") : why.message, true);
  } finally {
    clearTimeout(slow);
    if (state.showing === showing) {
      state.showing = null;
      at("view").setAttribute("aria-busy", "false");
      if (state.wanted) show();
    }
  }
}

// Milliseconds after which one is told to wait.
const SLOW = 400;

// Shows the chosen view of what is typed.
function show() {
  const [view, text] = [state.view, at("text").value];
  const place = at("view");
  if (state.models.length === 0) return load();
  if (view.NEEDS_TEXT && text.trim() === "") {
    state.showing?.abort();
    place.replaceChildren(h("p", { class: "note" }, t("blank")));
    return say("");
  }
  return asking((signal) => view.show({ engine, place, text, model: model(), models: state.models, signal, again }));
}

// The same once more, something in the view having been changed: as soon as what is being asked has come, so that whoever drags
// sees something on the way.
function again() {
  if (state.showing) state.wanted = true;
  else show();
}

function label() {
  for (const [id, name] of [
    ["model-label", "model"],
    ["key-label", "key"],
    ["text-label", "text"],
  ])
    at(id).textContent = t(name);
  const languages = [
    ["en", "English"],
    ["zh", "中文"],
  ].map(([code, name]) =>
    h(
      "button",
      { type: "button", lang: code, "aria-pressed": String(spoken() === code), onclick: () => change(code) },
      name,
    ),
  );
  at("languages").setAttribute("aria-label", t("language"));
  at("languages").replaceChildren(...languages);
  at("tabs").replaceChildren(...VIEWS.map(tab));
  at("view").setAttribute("aria-labelledby", `tab-${state.view.NAME}`);
}

function tab(view) {
  const selected = view === state.view;
  const button = {
    id: `tab-${view.NAME}`,
    type: "button",
    role: "tab",
    "aria-selected": String(selected),
    "aria-controls": "view",
  };
  return h(
    "button",
    { ...button, tabindex: selected ? 0 : -1, onclick: () => open(view), onkeydown: (event) => along(event, view) },
    t(view.NAME),
  );
}

// Arrow keys go from tab to tab.
function along(event, view) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length];
  open(next);
  at(`tab-${next.NAME}`).focus();
}

function open(view) {
  state.view = view;
  history.replaceState(null, "", `#${view.NAME}`);
  at("sentence").hidden = !view.NEEDS_TEXT;
  at("view").replaceChildren();
  label();
  show();
}

function change(code) {
  speak(code);
  kept.set("language", code);
  label();
  show();
}

async function load() {
  await asking(async () => {
    state.models = await engine.load();
    at("model").replaceChildren(
      ...state.models.map(({ id, source, target, attention }) =>
        h("option", { value: id }, `${id}: ${source} → ${target}, ${attention}`),
      ),
    );
    const known = state.models.find(({ id }) => id === kept.get("model"));
    if (known) at("model").value = known.id;
  });
  if (state.models.length > 0) show();
}

// Calls only when nothing more has come for a while.
function settled(call, milliseconds) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, milliseconds);
  };
}

speak(kept.get("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en"));
at("text").value = kept.get("text") ?? "the cat eats fish";
state.view = VIEWS.find(({ NAME }) => `#${NAME}` === location.hash) ?? look;
const typed = settled(show, 250);
at("text").addEventListener("input", () => {
  kept.set("text", at("text").value);
  typed();
});
at("model").addEventListener("change", () => {
  kept.set("model", at("model").value);
  show();
});
at("key").addEventListener("change", () => {
  engine.key = at("key").value;
  show();
});
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
addEventListener("hashchange", () => {
  const view = VIEWS.find(({ NAME }) => `#${NAME}` === location.hash);
  if (view && view !== state.view) open(view);
});
onGround(show);
open(state.view);
