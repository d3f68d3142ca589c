// Looks a page over: `check` puts what it finds wrong into `faults`.
const faults = [];

function check(dark) {
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) {
    faults.push(`the page is ${root.scrollWidth} pixels wide on a screen of ${root.clientWidth}`);
  }
  for (const element of document.querySelectorAll('p, li, h1, h2, dt, dd, td, th, figcaption, pre')) {
    if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1) {
      faults.push(`"${element.textContent.slice(0, 40)}" overflows its ${element.tagName}`);
    }
  }
  for (const svg of document.querySelectorAll('svg')) picture(svg);
  glyphs();
  ground(dark);
}

// Text stays inside its picture, and level texts don't lie on each other.
function picture(svg) {
  const page = svg.getBoundingClientRect();
  const level = [];
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBoundingClientRect();
    if (box.left < page.left - 1 || box.right > page.right + 1 || box.top < page.top - 1 || box.bottom > page.bottom + 1) {
      faults.push(`"${text.textContent}" leaves its picture "${svg.querySelector('title')?.textContent}"`);
    }
    if (!text.hasAttribute('transform')) level.push([box, text.textContent]);
  }
  for (const [i, [a, name]] of level.entries()) {
    for (const [b, other] of level.slice(i + 1)) {
      const [across, down] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
      // Lines of text are a little higher than what is in them.
      if (across > 1 && down > Math.min(a.height, b.height) / 3) faults.push(`"${name}" and "${other}" lie on each other`);
    }
  }
}

// A character that no font has is drawn as the same box as one that nobody has assigned.
function glyphs() {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 40;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const drawn = (character, font) => {
    pen.clearRect(0, 0, 40, 40);
    pen.font = `24px ${font}`;
    pen.fillText(character, 4, 30);
    return pen.getImageData(0, 0, 40, 40).data.join();
  };
  const seen = new Map();
  for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode();) {
    const parent = walker.currentNode.parentElement;
    if (['SCRIPT', 'STYLE', 'style'].includes(parent.tagName)) continue;
    const font = getComputedStyle(parent).fontFamily;
    if (!seen.has(font)) seen.set(font, new Set());
    for (const character of walker.currentNode.data) seen.get(font).add(character);
  }
  for (const [font, characters] of seen) {
    const missing = drawn('\u{50005}', font);
    for (const character of characters) {
      if (character.trim() && drawn(character, font) === missing) {
        faults.push(`no glyph for U+${character.codePointAt(0).toString(16).toUpperCase()} in ${font}`);
      }
    }
  }
}

// The page and its pictures are as dark or light as the screen.
function ground(dark) {
  const bright = colour => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
  const grounds = [['the page', getComputedStyle(document.body).backgroundColor]];
  for (const rect of document.querySelectorAll('svg:not([aria-hidden]) > rect:first-of-type')) grounds.push(['a picture', getComputedStyle(rect).fill]);
  for (const [name, colour] of grounds) {
    if ((bright(colour) < 128) !== dark) faults.push(`${name} is ${colour}, not ${dark ? 'dark' : 'light'}`);
  }
}
