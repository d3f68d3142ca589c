// A person at the page: a browser, and what they can see and do.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const { chromium } = await import(process.env.ZHUYI_PLAYWRIGHT_MODULE);
export const address = process.env.ZHUYI_ADDRESS;
const CHECK = fs.readFileSync(new URL("../it/page_check.js", import.meta.url), "utf8");

// Where a program is: Playwright doesn't look for it.
function program(name) {
  const folders = name.includes("/") ? [""] : process.env.PATH.split(":");
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

// What the server says when it is asked without the page.
export async function asked(route, body) {
  const request = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(address + route, request);
  assert.equal(answer.status, 200, route);
  return answer.json();
}

// Opens the page, does something, and finds that nothing has gone wrong meanwhile.
export async function visit(how, act) {
  const { dark = false, language = "en", phone = false, path: at = "/", mayFail = false } = how;
  const browser = await chromium.launch({ executablePath: program(process.env.CHROMIUM), args: ["--no-sandbox"] });
  try {
    const screen = phone
      ? { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
      : { viewport: { width: 1180, height: 900 } };
    const locale = language === "zh" ? "zh-CN" : "en-GB";
    const context = await browser.newContext({
      ...screen,
      locale,
      colorScheme: dark ? "dark" : "light",
      acceptDownloads: true,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const faults = [];
    page.on("pageerror", (why) => faults.push(`error: ${why.message}`));
    page.on("console", (said) => said.type() === "error" && faults.push(`console: ${said.text()}`));
    await page.goto(address + at);
    await act(new Person(page, dark));
    assert.deepEqual(mayFail ? faults.filter((fault) => !fault.startsWith("console: Failed to load")) : faults, []);
  } finally {
    await browser.close();
  }
}

class Person {
  constructor(page, dark) {
    this.page = page;
    this.dark = dark;
  }

  async type(text) {
    await this.page.locator("#text").fill(text);
  }

  async open(view) {
    await this.page.locator(`#tab-${view}`).click();
  }

  async choose(model) {
    await this.page.locator("#model").selectOption(model);
  }

  // Waits until the view has come to rest and shows this translation.
  async reads(translation) {
    await this.page.locator(".translation", { hasText: translation }).first().waitFor();
    await this.rests();
  }

  // Waits until nothing is being asked.
  async rests() {
    await this.page.waitForTimeout(300);
    await this.page.locator('#view[aria-busy="false"]').waitFor();
  }

  texts(selector) {
    return this.page.locator(selector).allTextContents();
  }

  // The page as it is now: it fits its screen, every character has a glyph, pictures are whole and of the right ground, and
  // everything that can be worked has a name. The picture goes to `ZHUYI_SHOTS`, for people to look at.
  async looksRight(name) {
    const faults = await this.page.evaluate(`(() => { ${CHECK}; check(${this.dark}); return faults; })()`);
    const nameless = await this.page.evaluate(NAMELESS);
    assert.deepEqual([...faults, ...nameless], [], name);
    if (process.env.ZHUYI_SHOTS) {
      fs.mkdirSync(process.env.ZHUYI_SHOTS, { recursive: true });
      await this.page.screenshot({ path: path.join(process.env.ZHUYI_SHOTS, `${name}.png`), fullPage: true });
    }
  }

  // The file that a button gives.
  async file(figure, kind) {
    const coming = this.page.waitForEvent("download");
    await this.page.locator(`[data-picture="${figure}"] button`, { hasText: kind }).click();
    const download = await coming;
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "zhuyi-"));
    const file = path.join(folder, "file");
    await download.saveAs(file);
    const bytes = fs.readFileSync(file);
    fs.rmSync(folder, { recursive: true });
    return { name: download.suggestedFilename(), bytes };
  }
}

// What can be worked but has no name for those who hear the page.
const NAMELESS = `[...document.querySelectorAll("button, input, select, textarea, [tabindex], iframe")]
  .filter((element) => element.checkVisibility() && element.id !== "view")
  .filter((element) => {
    const labels = element.labels ? [...element.labels].map((label) => label.innerText).join("") : "";
    const named = element.ariaLabel || element.title || element.innerText || labels || element.getAttribute("aria-labelledby");
    return !named || !named.trim();
  })
  .map((element) => "no name: " + element.outerHTML.slice(0, 120))`;

// The same numbers: what is computed beside a sentence may move a last digit.
export function assertNear(told, right) {
  if (Array.isArray(right)) {
    assert.equal(told.length, right.length);
    right.forEach((right, i) => assertNear(told[i], right));
  } else assert.ok(Math.abs(told - right) < 1e-5, `${told}, not ${right}`);
}

export { assert };
