// What the page knows of models, and all that it knows: load, translate, step, override, and beside them trees, runs and lessons.
// This one asks the server that the page came from. Another with the same methods – over a model compiled to WebAssembly –
// would do as well.

// A refusal, with the status that it came with; 0 where nothing answered.
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class ServerEngine {
  constructor(base = "") {
    this.base = base;
    this.key = "";
  }

  // The models: id, source, target, attention, heads, looks, parameters, search.
  async load() {
    return (await this.#get("/v1/models")).models;
  }

  // The best translations of a sentence with where each word looked.
  async translate(model, text, { nBest = 1, level = "auto", ends = false, head = null } = {}, signal) {
    const view = head === null ? { level, ends } : { level, ends, head };
    const body = { model, texts: [text], view, n_best: nBest };
    return (await this.#post("/v1/translate", body, signal)).translations[0];
  }

  // A greedy translation step by step, after some ids that are given, without some heads.
  async step(model, text, { written = [], without = [] } = {}, signal) {
    return this.#post("/v1/steps", { model, text, written, without }, signal);
  }

  // The same, some steps looking where they are told.
  async override(model, text, { written = [], without = [], instead = {} } = {}, signal) {
    return this.#post("/v1/steps", { model, text, written, without, instead }, signal);
  }

  // The tree of a beam search.
  async tree(model, text, beam, signal) {
    return this.#post("/v1/tree", { model, text, search: { beam, groups: 1 } }, signal);
  }

  // How the models learnt.
  async runs(signal) {
    return (await this.#get("/v1/runs", signal)).runs;
  }

  // The lessons' names, what they show, and what kind of model they need, if any.
  async lessons(signal) {
    return (await this.#get("/lessons", signal)).lessons;
  }

  // Where a lesson is, as a page.
  lesson(name, language, model) {
    const asked = new URLSearchParams(model ? { language, model } : { language });
    return `${this.base}/lessons/${name}?${asked}`;
  }

  #get(path, signal) {
    return this.#ask(path, { signal });
  }

  #post(path, body, signal) {
    const headers = { "Content-Type": "application/json" };
    return this.#ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  async #ask(path, request) {
    const headers = { ...request.headers };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    let answer;
    try {
      answer = await fetch(this.base + path, { ...request, headers });
    } catch (why) {
      if (why.name === "AbortError") throw why;
      throw new Refused(0, String(why.message));
    }
    // What stands between us and the server may answer with anything.
    const told = await answer.json().catch((why) => {
      if (why.name === "AbortError") throw why;
      return {};
    });
    if (!answer.ok) throw new Refused(answer.status, told.error ?? `${answer.status} ${answer.statusText}`);
    return told;
  }
}
