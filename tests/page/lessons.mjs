// Every lesson of the course, in both languages, its numbers worked out by the server.

import { asked, assert, visit } from "./person.mjs";

const { lessons } = await asked("/lessons");
assert.equal(lessons.length, 13);

for (const language of ["en", "zh"]) {
  await visit({ language, path: "/#lessons", dark: language === "zh" }, async (person) => {
    const { page } = person;
    for (const lesson of lessons) {
      await page.locator(`[data-lesson="${lesson.name}"]`).click();
      const frame = page.frameLocator("iframe");
      await page.locator(`iframe[title="${lesson[language].replaceAll('"', '\\"')}"]`).waitFor();
      await frame.locator(`html[lang^="${language}"] h1`).waitFor();
      assert.ok((await frame.locator("table, p").count()) > 2, lesson.name);
    }
    await page.locator('[data-lesson="heads"]').click();
    await page.frameLocator("iframe").locator("figure svg").waitFor();
    await person.looksRight(`lessons-${language}`);
    // A lesson with a model is worked out with the one that is chosen.
    await page.locator('[data-lesson="bottleneck"]').click();
    await person.choose("additive");
    await page.locator("#view p", { hasText: "additive" }).waitFor();
    const right = await asked("/v1/translate", { model: "additive", texts: ["The cat eats fish"], search: {} });
    await page.frameLocator("iframe").getByText(right.translations[0].translation, { exact: false }).first().waitFor();
  });
}
