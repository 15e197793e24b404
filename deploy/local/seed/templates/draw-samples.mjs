// Draws the sample pictures of seeded templates into samples/, only from code in this file.
//   node deploy/local/seed/templates/draw-samples.mjs
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { SCENES, SIZE } from "./scenes.mjs";

const QUALITY = 74;
const file = (/** @type {string} */ name) => fileURLToPath(new URL(`samples/${name}`, import.meta.url));
const pictureOf = (/** @type {string} */ svg) => sharp(Buffer.from(svg));
const asJpeg = (/** @type {import("sharp").Sharp} */ picture) => picture.flatten().jpeg({ quality: QUALITY, mozjpeg: true });

const MUG = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="640">
  <defs>
    <linearGradient id="wall" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#c9ced3"/><stop offset="1" stop-color="#aab1b8"/></linearGradient>
    <linearGradient id="glaze" x1="0" x2="1"><stop offset="0" stop-color="#7c1f14"/><stop offset=".28" stop-color="#e0563c"/><stop offset=".45" stop-color="#f08a6a"/><stop offset=".7" stop-color="#c23a26"/><stop offset="1" stop-color="#6d170f"/></linearGradient>
    <linearGradient id="inside" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#3d1a12"/><stop offset="1" stop-color="#8a4a36"/></linearGradient>
    <filter id="soft"><feGaussianBlur stdDeviation="14"/></filter>
  </defs>
  <rect width="640" height="640" fill="url(#wall)"/><rect y="430" width="640" height="210" fill="#d9d4cb"/>
  <ellipse cx="320" cy="540" rx="190" ry="26" fill="#000" opacity=".4" filter="url(#soft)"/>
  <path d="M446 262c92-14 116 34 104 88-12 56-58 86-118 80l6-40c38 2 62-16 68-48 6-30-12-46-62-38z" fill="#9c2a1b"/>
  <path d="M170 180h290l-16 322c-2 30-40 50-129 50s-127-20-129-50z" fill="url(#glaze)"/>
  <path d="M176 300q140 34 278 0l-4 74q-135 34-270 0z" fill="#f6efe2"/>
  <path d="M212 346q24-34 48 0t48 0 48 0 48 0" fill="none" stroke="#235a7a" stroke-width="9"/>
  <ellipse cx="315" cy="180" rx="145" ry="34" fill="#f3b39c"/><ellipse cx="315" cy="182" rx="131" ry="27" fill="url(#inside)"/>
</svg>`;

const PAGE_LINES = ["The harbour opens at six.", "Boats leave with the tide.", "Please keep the pier clear", "and ring the bell for help."];
const PAGE = `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="560">
  <rect width="900" height="560" fill="#5b4632"/><rect x="40" y="36" width="820" height="488" rx="10" fill="#f7f2e4"/>
  <text x="96" y="128" font-family="Noto Sans, DejaVu Sans, sans-serif" font-size="52" font-weight="bold" fill="#1f3a4d">HARBOUR RULES</text>
  ${PAGE_LINES.map((line, index) => `<text x="96" y="${216 + index * 78}" font-family="Noto Sans, DejaVu Sans, sans-serif" font-size="44" fill="#22262a">${line}</text>`).join("")}
</svg>`;

for (const [name, svg] of Object.entries(SCENES)) await asJpeg(pictureOf(svg)).toFile(file(`${name}.jpg`));
await asJpeg(pictureOf(MUG)).toFile(file("mug.jpg"));
await asJpeg(pictureOf(PAGE)).toFile(file("page.jpg"));
// Input for upscaling: a small part of a picture.
const SMALL = { width: 240, height: 180 };
const part = pictureOf(SCENES.lighthouse ?? "").extract({ left: 560, top: 90, width: 600, height: 450 });
await part.resize(SMALL).flatten().jpeg({ quality: 92, mozjpeg: true }).toFile(file("small.jpg"));
process.stdout.write(`drawn, ${SIZE.width} × ${SIZE.height}\n`);
