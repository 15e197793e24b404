// Makes template covers from outputs that `npm run drill -- films templates` stores.
//   node deploy/local/seed/templates/make-covers.mjs [slug…]
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { OUT, runFfmpeg } from "../../../drills/films/files.mjs";
import { coverPath, TEMPLATES } from "./index.mjs";

const SIZE = { width: 640, height: 360 };
const QUALITY = 74;
/** Second of a film's best frame, if it isn't in the middle. @type {Record<string, number>} */
const MOMENTS = {
  "narrated-slideshow": 9,
  "title-cards": 1,
  "talking-postcard": 2.5,
  "podcast-to-captions": 3,
  "tween-two-pictures": 0.75,
};
const SOUND = "#f4efe6";

/** @param {string} path @param {number} at */
const frameOf = (path, at) =>
  runFfmpeg(["-v", "error", "-ss", String(at), "-i", path, "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "pipe:1"]).output;

/** @param {string} path */
const waveOf = (path) => {
  const filter = `aformat=channel_layouts=mono,showwavespic=s=${SIZE.width - 80}x${SIZE.height - 120}:colors=#1f5f7a`;
  return runFfmpeg(["-v", "error", "-i", path, "-filter_complex", filter, "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "pipe:1"])
    .output;
};

/** @param {string} slug */
const pictureOf = async (slug) => {
  const name = readdirSync(OUT).find((file) => file.startsWith(`${slug}.`));
  if (name === undefined) throw new Error(`${slug} has made nothing: npm run drill -- films templates`);
  const path = join(OUT, name);
  // Nothing here draws 3D models: their covers are screenshots of the viewer.
  if (name.endsWith(".glb")) return undefined;
  if (name.endsWith(".mp4")) return sharp(frameOf(path, MOMENTS[slug] ?? 2));
  if (!/\.(wav|mp3|m4a)$/.test(name)) return sharp(path);
  const background = { create: { ...SIZE, channels: /** @type {const} */ (3), background: SOUND } };
  return sharp(
    await sharp(background)
      .composite([{ input: waveOf(path) }])
      .png()
      .toBuffer(),
  );
};

const slugs = process.argv.slice(2);
mkdirSync(new URL("covers/", import.meta.url), { recursive: true });
for (const { slug } of TEMPLATES) {
  if (slugs.length > 0 && !slugs.includes(slug)) continue;
  const picture = await pictureOf(slug);
  if (!picture) continue;
  const file = fileURLToPath(new URL(coverPath(slug), import.meta.url));
  const { size } = await picture
    .flatten({ background: SOUND })
    .resize({ ...SIZE, fit: "cover", position: "centre" })
    .webp({ quality: QUALITY })
    .toFile(file);
  process.stdout.write(`${slug.padEnd(24)} ${(size / 1_000).toFixed(1).padStart(6)} kB\n`);
}
