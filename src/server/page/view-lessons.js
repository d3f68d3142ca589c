// The lessons of the course, their numbers worked out by the server's own library.

import { h, put } from "./elements.js";
import { spoken, t } from "./words.js";

export const NAME = "lessons";
export const NEEDS_TEXT = false;

let chosen = null;

export async function show({ engine, place, model, signal, again }) {
  const lessons = await engine.lessons(signal);
  const lesson = lessons.find(({ name }) => name === chosen) ?? lessons[0];
  const fits = { any: model.looks, heads: model.heads > 1 }[lesson.model];
  const by = fits ? model.id : null;
  const address = engine.lesson(lesson.name, spoken(), by);
  const entry = ({ name, en, zh }) => {
    const choose = () => {
      chosen = name;
      again();
    };
    const about = spoken() === "zh" ? zh : en;
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", "aria-current": name === lesson.name ? "true" : null, "data-lesson": name, onclick: choose },
        about,
      ),
    );
  };
  put(
    place,
    h(
      "div",
      { class: "lessons" },
      h("ol", {}, lessons.map(entry)),
      h(
        "div",
        {},
        h(
          "p",
          {},
          lesson.model ? `${t("lessonWith", by ?? t("shipped"))} · ` : "",
          h("a", { href: address, target: "_blank", rel: "noopener" }, t("openAlone")),
        ),
        h("iframe", { src: address, title: spoken() === "zh" ? lesson.zh : lesson.en }),
      ),
    ),
  );
}
