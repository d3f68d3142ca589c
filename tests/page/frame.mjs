// What is around the views: languages, keyboard, what is kept, and what happens when something fails.

import { asked, assert, visit } from "./person.mjs";

const [first] = (await asked("/v1/translate", { model: "general", texts: ["the cat eats fish"] })).translations;

// By its language a browser gets Chinese, and keeps what is chosen.
await visit({ language: "zh" }, async (person) => {
  const { page } = person;
  await person.reads(first.translation);
  assert.deepEqual(await person.texts("[role=tab]"), ["翻译", "逐步", "束搜索", "并排", "课程", "训练"]);
  assert.equal(await page.getAttribute("html", "lang"), "zh-Hans");
  await person.looksRight("frame-zh");
  await page.getByRole("button", { name: "English" }).click();
  await page.getByRole("tab", { name: "Translation" }).waitFor();
  await person.type("tom sleeps");
  await person.choose("additive");
  await person.rests();
  await page.reload();
  await page.getByRole("tab", { name: "Translation" }).waitFor();
  assert.equal(await page.locator("#text").inputValue(), "tom sleeps");
  assert.equal(await page.locator("#model").inputValue(), "additive");
  assert.equal(await page.getAttribute("html", "lang"), "en");
});

// Without a mouse.
await visit({}, async (person) => {
  const { page } = person;
  await person.reads(first.translation);
  const focused = () => page.evaluate("document.activeElement.id || document.activeElement.innerText");
  const order = [];
  for (let i = 0; i < 5; i += 1) {
    await page.keyboard.press("Tab");
    order.push(await focused());
  }
  assert.deepEqual(order, ["English", "中文", "model", "text", "tab-look"]);
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), "tab-steps");
  assert.equal(await page.locator("#tab-steps").getAttribute("aria-selected"), "true");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await focused(), "tab-runs");
  assert.equal(new URL(page.url()).hash, "#runs");
});

// Nothing typed, too much typed, a sentence that is too long to look into: it is said, and what was typed is kept.
await visit({ mayFail: true }, async (person) => {
  const { page } = person;
  await person.type("   ");
  await page.getByText("Type a sentence").waitFor();
  await person.looksRight("frame-blank");
  const long = "the cat eats fish ".repeat(150);
  await person.type(long);
  await page.locator("#status.wrong", { hasText: "2700 characters" }).waitFor();
  assert.equal(await page.locator("#text").inputValue(), long);
  await person.type("the cat eats fish ".repeat(50));
  await person.open("steps");
  await page.locator("#status.wrong", { hasText: "max_source = 128" }).waitFor();
  await person.type("tom sleeps");
  await page.locator(".words button").first().waitFor();
  assert.equal(await page.locator("#status.wrong").count(), 0);

  // The server goes away while somebody types, and what they typed is still there.
  await person.open("look");
  process.kill(Number(process.env.ZHUYI_SERVER), "SIGKILL");
  await person.type("the dog sleeps");
  await page.locator("#status.wrong", { hasText: "The server does not answer" }).waitFor();
  assert.equal(await page.locator("#text").inputValue(), "the dog sleeps");
  await person.looksRight("frame-offline");
});
