/** Generated pictures with known contents, and measures of similarity. */

const WIDTH = 512;
const HEIGHT = 384;
const PEAK = 255;

/** @param {string} inner */
const svg = (inner, width = WIDTH, height = HEIGHT) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inner}</svg>`);

const SKY = `<defs><linearGradient id="sky" x2="0" y2="1"><stop offset="0" stop-color="#9cc9f0"/><stop offset="1" stop-color="#e8f2da"/></linearGradient></defs>
<rect width="100%" height="100%" fill="url(#sky)"/><rect y="300" width="100%" height="90" fill="#7aa65b"/>`;

/**
 * Objects to cut out, as one-colour shapes for the mask and coloured ones for the picture.
 * @param {string} fill undefined: its own colours
 */
const person = (/** @type {string | undefined} */ fill) => `<ellipse cx="256" cy="250" rx="70" ry="90" fill="${fill ?? "#c0392b"}"/>
<circle cx="256" cy="130" r="58" fill="${fill ?? "#f2c29b"}"/><path d="M198 110 q58 -80 116 0 q-58 -30 -116 0" fill="${fill ?? "#3b2416"}"/>
${fill ? "" : '<circle cx="236" cy="120" r="7" fill="#222"/><circle cx="276" cy="120" r="7" fill="#222"/><path d="M230 150 q26 24 52 0" stroke="#a33" stroke-width="6" fill="none"/>'}`;
const mug = (
  /** @type {string | undefined} */ fill,
) => `<path d="M180 120 h140 v160 q0 30 -30 30 h-80 q-30 0 -30 -30 z" fill="${fill ?? "#2f6fb0"}"/>
<path d="M320 150 q70 0 70 50 q0 50 -70 50" stroke="${fill ?? "#2f6fb0"}" stroke-width="22" fill="none"/>
${fill ? "" : '<ellipse cx="250" cy="122" rx="70" ry="14" fill="#173a5e"/><path d="M205 160 v110" stroke="#6fa5dd" stroke-width="12"/>'}`;
const car = (
  /** @type {string | undefined} */ fill,
) => `<path d="M110 270 v-50 q4 -14 30 -16 l40 -54 q8 -10 24 -10 h110 q14 0 22 10 l40 54 q34 4 40 20 v46 z" fill="${fill ?? "#d9a520"}"/>
<circle cx="180" cy="272" r="34" fill="${fill ?? "#222"}"/><circle cx="350" cy="272" r="34" fill="${fill ?? "#222"}"/>
${fill ? "" : '<path d="M200 160 h50 v42 h-80 z" fill="#bfe0f2"/><path d="M266 160 h46 l32 42 h-78 z" fill="#bfe0f2"/><circle cx="180" cy="272" r="14" fill="#999"/><circle cx="350" cy="272" r="14" fill="#999"/>'}`;

export const THINGS = Object.entries({ person, mug, car }).map(([name, shapes]) => ({
  name,
  picture: svg(SKY + shapes(undefined)),
  mask: svg(`<rect width="100%" height="100%" fill="#000"/>${shapes("#fff")}`),
}));

/** A drawing with edges, curves, letters and a fine pattern. */
export const DETAILED = svg(
  `${SKY}${Array.from({ length: 24 }, (_, index) => `<rect x="${8 + index * 21}" y="${310 + (index % 3) * 6}" width="9" height="60" rx="3" fill="hsl(${index * 15},55%,42%)"/>`).join("")}
${Array.from({ length: 9 }, (_, index) => `<circle cx="${420 - index * 3}" cy="${90 + index * 2}" r="${70 - index * 7}" fill="none" stroke="#25405e" stroke-width="3"/>`).join("")}
<text x="24" y="90" font-family="sans-serif" font-size="54" font-weight="bold" fill="#22303c">Nodeloom</text>
<path d="M20 250 C 120 100, 220 320, 330 200 S 470 260, 500 190" stroke="#b03060" stroke-width="7" fill="none"/>
<polygon points="60,140 120,240 10,230" fill="#e6842a" stroke="#444" stroke-width="3"/>`,
);

/** Moves an object to the right over time. @param {number} share from 0 to 1 */
export const movingAt = (share) => svg(`${SKY}<g transform="translate(${-50 + 60 * share},0)">${person(undefined)}</g>`);

export const PAGE_LINES = [
  "Invoice 2026-0417",
  "The quick brown fox jumps over the lazy dog.",
  "Total amount: 1,249.50 EUR",
  "Payable within thirty days.",
];
export const PAGE = svg(
  `<rect width="100%" height="100%" fill="#fff"/><g font-family="sans-serif" font-size="34" fill="#111">${PAGE_LINES.map((line, index) => `<text x="40" y="${80 + index * 70}">${line}</text>`).join("")}</g>`,
  900,
  400,
);

/** Similarity in decibels; higher is closer. @param {Buffer} one @param {Buffer} other of equal length */
export const psnr = (one, other) => {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += (Number(one[index]) - Number(other[index])) ** 2;
  return 10 * Math.log10(PEAK ** 2 / Math.max(1e-9, sum / one.length));
};

/** Intersection over union. @param {Buffer} one @param {Buffer} other one byte a pixel */
export const overlap = (one, other) => {
  let [both, either] = [0, 0];
  for (let index = 0; index < one.length; index += 1) {
    const [inOne, inOther] = [Number(one[index]) > 127, Number(other[index]) > 127];
    both += Number(inOne && inOther);
    either += Number(inOne || inOther);
  }
  return both / Math.max(1, either);
};

const words = (/** @type {string} */ text) =>
  text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[^\p{L}\p{N}' ]+/gu, " ")
    .split(/\s+/)
    .filter(Boolean);

/** Word error rate: share of changed, added or missing words. @param {string} sentence @param {string} transcript */
export const wordErrors = (sentence, transcript) => {
  const [from, to] = [words(sentence), words(transcript)];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at += 1) {
    const above = row;
    row = [at];
    for (let other = 1; other <= to.length; other += 1) {
      const replaced = Number(above[other - 1]) + Number(from[at - 1] !== to[other - 1]);
      row.push(Math.min(replaced, Number(above[other]) + 1, Number(row[other - 1]) + 1));
    }
  }
  return Number(row.at(-1)) / Math.max(1, from.length);
};
