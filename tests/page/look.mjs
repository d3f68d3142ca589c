// A sentence is typed; its translation and its alignment are there at once.

import { asked, assert, assertNear, visit } from "./person.mjs";

const SENTENCE = "the dog drinks water";
const told = (await asked("/v1/translate", { model: "general", texts: [SENTENCE], n_best: 5 })).translations[0];
const many = (await asked("/v1/translate", { model: "multi-head", texts: [SENTENCE], view: { head: 3 } }))
  .translations[0];

await visit({}, async (person) => {
  const { page } = person;
  await person.type(SENTENCE);
  await person.reads(told.translation);
  const cells = page.locator('[data-picture="alignment"] [data-row]');
  assert.equal(await cells.count(), told.source.length * told.target.length);
  // The cell of the second word says what the server says.
  const [word, weight] = [told.source.indexOf("dog"), told.weights[0][told.source.indexOf("dog")]];
  const label = await page
    .locator(`[data-picture="alignment"] [data-row="0"][data-column="${word}"]`)
    .getAttribute("aria-label");
  assert.equal(label, `${told.target[0]} looks at dog with ${weight.toFixed(3)}`);
  await person.looksRight("look");

  // A word that is pointed at lights its partner, and the heat map with it.
  await page.locator('[data-picture="threads"] g', { hasText: "dog" }).hover();
  const lit = await person.texts('[data-picture="threads"] g[data-lit] text');
  assert.deepEqual(lit.sort(), ["dog", told.target[0]].sort());
  const pale = page.locator('[data-picture="alignment"] [data-row="0"][data-column="0"]');
  assert.equal(await pale.getAttribute("opacity"), "0.35");
  await person.looksRight("look-hover");
  await page.locator("h1").hover();
  assert.equal(await pale.getAttribute("opacity"), "1");

  // With the keyboard, from cell to cell.
  await page.locator('[data-picture="alignment"] [tabindex="0"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const focused = await page.evaluate("[document.activeElement.dataset.row, document.activeElement.dataset.column]");
  assert.deepEqual(focused, ["1", "1"]);

  // Other translations, best first.
  const others = await person.texts("#view table td:first-child");
  assert.deepEqual(
    others.slice(-told.hypotheses.length),
    told.hypotheses.map(({ translation }) => translation),
  );

  // Files of both pictures.
  for (const picture of ["alignment", "threads"]) {
    const svg = await person.file(picture, "SVG");
    assert.equal(svg.name, `${picture}.svg`);
    assert.match(svg.bytes.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"[\s\S]*dog[\s\S]*<\/svg>$/);
    const png = (await person.file(picture, "PNG")).bytes;
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    const width = Number(svg.bytes.toString().match(/width="(\d+)"/)[1]);
    assert.equal(png.readUInt32BE(16), 2 * width);
    assert.ok(png.length > 2000, "the picture is not empty");
    const json = JSON.parse((await person.file(picture, "JSON")).bytes);
    assertNear(json.weights, told.weights);
  }

  // The end of the sentence, pieces, and one head of eight.
  await page.getByLabel("with the end of the sentence").check();
  await page.locator('[data-picture="alignment"] text', { hasText: "</s>" }).first().waitFor();
  await page.getByLabel("with the end of the sentence").uncheck();
  await person.choose("multi-head");
  await page.getByLabel("Head", { exact: true }).selectOption("3");
  await person.rests();
  const json = JSON.parse((await person.file("alignment", "JSON")).bytes);
  assertNear(json.weights, many.weights);
  await person.looksRight("look-head");

  // Whatever is typed is text (known fault P8).
  await person.choose("none");
  await page.getByText("This model has no attention").waitFor();
  await person.choose("general");
  await person.type('<img src=x onerror="document.title=1"> dog');
  await page.locator('[data-picture="alignment"] text', { hasText: "onerror" }).first().waitFor();
  assert.equal(await page.locator("#view img").count(), 0);

  // The other way, in Chinese.
  await person.choose("zh-en");
  await person.type("猫 吃 鱼");
  const back = (await asked("/v1/translate", { model: "zh-en", texts: ["猫 吃 鱼"] })).translations[0];
  await person.reads(back.translation);
  assert.deepEqual(await person.texts('[data-picture="threads"] g text'), [...back.source, ...back.target]);
});

// A long sentence, in the dark, in Chinese, on a telephone.
await visit({ dark: true, language: "zh", phone: true }, async (person) => {
  await person.choose("multi-head");
  await person.type(
    "my sister reads a good book in the kitchen every morning because she likes the big river near the old house",
  );
  await person.rests();
  await person.looksRight("look-phone-zh-dark");
});
