// The tree of a beam search.

import { asked, assert, visit } from "./person.mjs";

const SENTENCE = "the dog drinks water";
const tree = (beam) => asked("/v1/tree", { model: "general", text: SENTENCE, search: { beam } });
const [four, eight] = [await tree(4), await tree(8)];

await visit({}, async (person) => {
  const { page } = person;
  await person.type(SENTENCE);
  await person.open("tree");
  await page.locator("[data-node]").first().waitFor();
  assert.equal(await page.locator("[data-node]").count(), four.nodes.length);
  // The best translation is the path that is marked.
  const best = await person.texts("[data-best] text:nth-of-type(1)");
  const path = [];
  for (let at = four.found[0].node; at !== null; at = four.nodes[at].parent) path.unshift(four.nodes[at].piece);
  assert.deepEqual(best.sort(), path.sort());
  assert.deepEqual(
    await person.texts(".found td:first-child"),
    four.found.map(({ translation }) => translation),
  );
  for (const fate of ["ends", "outrun", "given-up", "goes-on"]) {
    const n = four.nodes.filter((node) => node.fate === fate).length;
    assert.equal(await page.locator(`[data-fate="${fate}"]`).count(), n, fate);
  }
  await person.looksRight("tree");

  // With the keyboard along the branches.
  await page.locator('[data-node][tabindex="0"]').focus();
  await page.keyboard.press("ArrowRight");
  const node = await page.evaluate("Number(document.activeElement.dataset.node)");
  assert.equal(four.nodes[node].parent, 0);
  assert.match(
    await page.evaluate("document.activeElement.getAttribute('aria-label')"),
    /p = 0\.\d+, log-probability −\d/,
  );
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.evaluate("document.activeElement.dataset.node"), "0");

  await page.getByRole("spinbutton").fill("8");
  await page.getByRole("spinbutton").press("Enter");
  await page.locator(`[data-node="${eight.nodes.length - 1}"]`).waitFor();
  assert.equal(await page.locator("[data-node]").count(), eight.nodes.length);
  await person.looksRight("tree-8");
  const json = JSON.parse((await person.file("tree", "JSON")).bytes);
  assert.deepEqual(json.nodes, eight.nodes);
  assert.match((await person.file("tree", "SVG")).bytes.toString(), /<\/svg>$/);
});

await visit({ dark: true, language: "zh", phone: true, path: "/#tree" }, async (person) => {
  await person.page.locator("[data-node]").first().waitFor();
  await person.looksRight("tree-phone-zh-dark");
});
