// A server that wants a key asks for it, and what was typed is translated then.

import { assert, visit } from "./person.mjs";

await visit({ mayFail: true }, async (person) => {
  const { page } = person;
  await page.getByLabel("API key").waitFor();
  await page.locator("#status.wrong", { hasText: "API key is needed" }).waitFor();
  await person.looksRight("key");
  await person.type("tom sleeps");
  await page.getByLabel("API key").fill("wrong");
  await page.getByLabel("API key").press("Enter");
  await page.locator("#status.wrong", { hasText: "not known here" }).waitFor();
  await page.getByLabel("API key").fill("open sesame");
  await page.getByLabel("API key").press("Enter");
  await page.locator(".translation").waitFor();
  assert.equal(await page.locator("#text").inputValue(), "tom sleeps");
  assert.equal(await page.locator("#status.wrong").count(), 0);
});
