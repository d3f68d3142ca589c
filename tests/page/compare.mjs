// Two models beside each other: attention against the single vector, additive against general, heads on and off.

import { asked, assert, visit } from "./person.mjs";

const SENTENCE = "my sister reads a good book in the kitchen every morning";
const steps = (model, without = []) => asked("/v1/steps", { model, text: SENTENCE, without });
const percent = (share) => (share > 0 && share < 0.001 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`);

await visit({}, async (person) => {
  const { page } = person;
  const side = (name) => page.locator(`[data-side="${name}"]`);
  const shows = async (name, right) => {
    await side(name).locator(".translation", { hasText: right.translation }).waitFor();
    await person.rests();
    assert.deepEqual(
      await side(name).locator("td.number").allTextContents(),
      right.steps.map(({ token }) => percent(token.probability)),
    );
  };
  await person.type(SENTENCE);
  await person.open("compare");
  await shows("left", await steps("general"));
  await side("right").getByLabel("Right", { exact: true }).selectOption("none");
  await shows("right", await steps("none"));
  assert.equal((await side("left").locator("[data-row]").count()) > 0, true);
  await side("right").getByText("This model has no attention").waitFor();
  assert.equal(await side("right").locator("[data-row]").count(), 0);
  await person.looksRight("compare-none");

  await side("left").getByLabel("Left", { exact: true }).selectOption("additive");
  await side("right").getByLabel("Right", { exact: true }).selectOption("general");
  await shows("left", await steps("additive"));
  await shows("right", await steps("general"));
  await person.looksRight("compare-additive");

  // The same model with and without two of its heads.
  for (const name of ["Left", "Right"])
    await page.getByLabel(name, { exact: true }).and(page.locator("select")).selectOption("multi-head");
  await shows("right", await steps("multi-head"));
  for (const head of ["1", "5"]) {
    await side("right").getByLabel(head, { exact: true }).uncheck();
    await person.rests();
  }
  const without = await steps("multi-head", [1, 5]);
  await shows("right", without);
  await shows("left", await steps("multi-head"));
  const json = await person.page.evaluate(
    "document.querySelectorAll('[data-picture=\"alignment-multi-head\"]').length",
  );
  assert.equal(json, 2);
  await person.looksRight("compare-heads");
});

await visit({ dark: true, language: "zh", phone: true, path: "/#compare" }, async (person) => {
  await person.page.locator('[data-side="right"] .translation').waitFor();
  await person.looksRight("compare-phone-zh-dark");
});
