// A translation is gone through step by step; another word is chosen, and a weight is dragged.

import { asked, assert, visit } from "./person.mjs";

const SENTENCE = "the dog drinks water";
const model = "general";
const own = await asked("/v1/steps", { model, text: SENTENCE });
const percent = (share) => (share > 0 && share < 0.001 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`);

await visit({}, async (person) => {
  const { page } = person;
  const step = (n) => page.getByText(`Step ${n} of`, { exact: false });
  const next = () => person.texts(".next th button");
  await person.type(SENTENCE);
  await person.open("steps");
  await person.reads(own.translation);
  await person.looksRight("steps");

  // The five likeliest words of the first step, as the server tells them.
  assert.deepEqual(
    await next(),
    own.steps[0].next.map(({ piece }) => piece),
  );
  assert.deepEqual(
    await person.texts(".next td.number"),
    own.steps[0].next.map(({ probability }) => percent(probability)),
  );
  // Softmax of the scores that are shown gives the weights that are shown.
  const numbers = async (column) =>
    (await person.texts(`.where tbody tr td:nth-child(${column})`)).map((text) => Number(text.replace("−", "-")));
  const [scores, weights] = [await numbers(3), await numbers(5)];
  const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const sum = powers.reduce((a, b) => a + b);
  powers.forEach((power, i) =>
    assert.ok(Math.abs(power / sum - weights[i]) < 0.02, `${power / sum}, not ${weights[i]}`),
  );
  const query = JSON.parse((await person.file("query", "JSON")).bytes);
  assert.deepEqual(query, own.steps[0].query);
  assert.deepEqual(JSON.parse((await person.file("context", "JSON")).bytes), own.steps[0].context);

  // The slider goes from step to step, by keyboard; so do the words.
  const slider = page.getByLabel("Step", { exact: true });
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await step(2).waitFor();
  assert.deepEqual(
    await next(),
    own.steps[1].next.map(({ piece }) => piece),
  );
  await page.keyboard.press("ArrowRight");
  await step(3).waitFor();
  assert.equal(await page.evaluate("document.activeElement.type"), "range", "the keyboard stays in the slider");
  await page.locator(".words button").first().click();
  await step(1).waitFor();

  // Another first word: the rest is written anew.
  const other = own.steps[0].next[1];
  const changed = await asked("/v1/steps", { model, text: SENTENCE, written: [other.id] });
  await page.locator(".next th button", { hasText: other.piece }).first().click();
  await person.reads(changed.translation);
  assert.deepEqual(
    await person.texts(".words button"),
    changed.steps.map(({ token }) => token.piece),
  );
  await person.looksRight("steps-other-word");
  await page.getByRole("button", { name: "Back to the model's own translation" }).click();
  await person.reads(own.translation);

  // A weight is dragged to the right by the mouse, with what it does shown on the way.
  const last = own.source.length - 2;
  const weight = page.getByLabel(`Weight of ${own.source[last]}`);
  const before = await next();
  const box = await weight.boundingBox();
  await page.mouse.move(box.x + 8, box.y + box.height / 2);
  await page.mouse.down();
  for (let i = 1; i <= 20; i += 1) {
    await page.mouse.move(box.x + 8 + ((box.width - 16) * 0.9 * i) / 20, box.y + box.height / 2);
    await page.waitForTimeout(25);
  }
  await page.mouse.up();
  await page.getByText("You say where this step looks.").waitFor();
  await person.rests();
  const dragged = Number(await weight.inputValue());
  assert.ok(dragged > 0.8 && dragged < 0.97, `dragged to ${dragged}`);
  const now = await numbers(5);
  assert.ok(Math.abs(now.reduce((a, b) => a + b) - 1) < 0.03, `weights ${now}`);
  assert.equal(now[last], Number(dragged.toFixed(2)));
  assert.notDeepEqual(await next(), before);
  await person.looksRight("steps-dragged");

  // Only there: what the decoder writes with that context, as the server says.
  await page.getByRole("button", { name: `Look only at ${own.source[last]}` }).click();
  await person.rests();
  const instead = { 0: own.source.map((_, i) => (i === last ? 1 : 0)) };
  const only = await asked("/v1/steps", { model, text: SENTENCE, instead });
  await person.reads(only.translation);
  assert.deepEqual(
    await next(),
    only.steps[0].next.map(({ piece }) => piece),
  );
  await page.getByRole("button", { name: "Look where the model looks" }).click();
  await person.reads(own.translation);

  // Heads: their scores, and without one of them.
  await person.choose("multi-head");
  await person.rests();
  await page.getByLabel("Head", { exact: true }).selectOption({ label: "1" });
  const all = await asked("/v1/steps", { model: "multi-head", text: SENTENCE });
  assert.equal((await numbers(3))[0], Number(all.steps[0].scores[0][0].toFixed(2)));
  await page.getByRole("group", { name: "Heads that are on" }).getByLabel("2").uncheck();
  await person.rests();
  const without = await asked("/v1/steps", { model: "multi-head", text: SENTENCE, without: [2] });
  assert.deepEqual(
    await person.texts(".next td.number"),
    without.steps[0].next.map(({ probability }) => percent(probability)),
  );
  await person.looksRight("steps-heads");

  // Without attention there is a context, and nothing to drag.
  await person.choose("none");
  await page.getByText("This model has no attention").waitFor();
  assert.equal(await page.locator(".where").count(), 0);
  assert.equal(await page.locator('[data-picture="context"]').count(), 1);
});

await visit({ dark: true, language: "zh", phone: true, path: "/#steps" }, async (person) => {
  await person.type("the dog drinks water because she likes fish");
  await person.rests();
  await person.looksRight("steps-phone-zh-dark");
});
