// Curves of training, and where a model looked in one sentence as it learnt.

import { asked, assert, visit } from "./person.mjs";

const { runs } = await asked("/v1/runs");
const run = runs.find(({ id }) => id === "general");
assert.ok(run.looked.length >= 3 && run.finished);
assert.deepEqual(
  run.looked.map(({ step }) => step),
  run.validated.map(({ step }) => step),
);

await visit({}, async (person) => {
  const { page } = person;
  await person.open("runs");
  await page.locator('[data-picture="bleu"]').waitFor();
  for (const picture of ["loss", "bleu", "trainLoss"]) {
    assert.equal(await page.locator(`[data-picture="${picture}"] path`).count(), runs.length, picture);
  }
  const json = JSON.parse((await person.file("bleu", "JSON")).bytes);
  assert.deepEqual(
    json[0].points,
    run.validated.map(({ step, scores }) => [step, scores.bleu]),
  );
  await person.looksRight("runs");

  // The last look first; the slider goes back to the first one.
  const label = () =>
    page.locator('[data-picture="over-time"] [data-row="0"][data-column="0"]').getAttribute("aria-label");
  const says = ({ source, target, weights }) => `${target[0]} looks at ${source[0]} with ${weights[0][0].toFixed(3)}`;
  assert.equal(await label(), says(run.looked.at(-1)));
  const slider = page.getByRole("slider");
  await slider.focus();
  await page.keyboard.press("Home");
  await page.getByText(`after ${run.looked[0].step} updates`, { exact: true }).waitFor();
  assert.equal(await label(), says(run.looked[0]));
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByText(`after ${run.looked.at(-1).step} updates`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Play" }).waitFor();
  assert.equal(await label(), says(run.looked.at(-1)));

  await person.choose("none");
  await page.getByText("tells nothing of where it looked").waitFor();
});

await visit({ dark: true, language: "zh", phone: true, path: "/#runs" }, async (person) => {
  await person.page.locator('[data-picture="over-time"]').waitFor();
  await person.looksRight("runs-phone-zh-dark");
});
