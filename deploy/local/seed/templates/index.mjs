/**
 * Templates of a new installation: pipelines by purpose, with filled inputs and their output as the cover. They belong to the
 * administrator.
 */
import { readFile } from "node:fs/promises";
import { expectStatus } from "../client.mjs";
import { CLIPS } from "./clips.mjs";
import { FILM_FROM_AN_IDEA } from "./film-from-an-idea.mjs";
import { NARRATED_SLIDESHOW } from "./narrated-slideshow.mjs";
import { PICTURE_TO_3D, PICTURES, PRODUCT_SHOT, TEXT_TO_IMAGE, UPSCALE } from "./pictures.mjs";
import { POSTCARD, VOICES } from "./voices.mjs";

/**
 * @typedef {object} Template
 * @property {string} slug
 * @property {string} name
 * @property {string} description
 * @property {string[]} tags
 * @property {import("../graph.mjs").Node[]} nodes
 * @property {ReturnType<typeof import("../graph.mjs").edge>[]} edges
 */

/** Templates in display order: fast and free ones come first. @type {readonly Template[]} */
export const TEMPLATES = [
  ...[POSTCARD, TEXT_TO_IMAGE, PICTURE_TO_3D, UPSCALE, PRODUCT_SHOT],
  ...[FILM_FROM_AN_IDEA, NARRATED_SLIDESHOW],
  ...[...CLIPS, ...VOICES, ...PICTURES],
];

/** Placeholder for a file id in a field's default: `sample:harbour.jpg`. */
const SAMPLE = /"sample:([a-z0-9.-]+)"/g;

/** Sample files of a template. @param {Template} template */
export const samplesOf = ({ nodes }) => [...new Set([...JSON.stringify(nodes).matchAll(SAMPLE)].map(([, name]) => name ?? ""))];

/** @param {string} path of a file in this folder */
const fileAt = (path) => readFile(new URL(path, import.meta.url));

/** Path of a template's cover. @param {string} slug */
export const coverPath = (slug) => `covers/${slug}.webp`;

/**
 * Body for creating a template, with ids of uploaded samples.
 * @param {Template} template @param {(path: string) => Promise<{ id: string, url: string }>} upload
 */
const bodyOf = async (template, upload) => {
  const { slug, nodes, ...rest } = template;
  const ids = new Map();
  for (const name of samplesOf(template)) ids.set(name, (await upload(`samples/${name}`)).id);
  // The address has no host, because a later start can use another port.
  const image = new URL((await upload(coverPath(slug))).url).pathname;
  const namedJson = JSON.stringify(nodes).replace(SAMPLE, (_, name) => JSON.stringify(ids.get(name)));
  return { ...rest, nodes: JSON.parse(namedJson), cover: { image }, isTemplate: true };
};

/**
 * Creates missing templates.
 * @param {{ client: import("../client.mjs").Client, key: string }} options `key`: key of the administrator
 * @returns {Promise<number>} number of created templates
 */
export const seedTemplates = async ({ client, key }) => {
  const listed = expectStatus("listing workflows", await client("GET", "/api/workflows", { key }), 200);
  const templates = listed.body.filter((/** @type {{ isTemplate: boolean }} */ { isTemplate }) => isTemplate);
  const knownNames = new Set(templates.map((/** @type {{ name: string }} */ { name }) => name));
  const missing = TEMPLATES.filter(({ name }) => !knownNames.has(name));
  /** @type {Map<string, { id: string, url: string }>} */
  const uploaded = new Map();
  const upload = async (/** @type {string} */ path) => {
    const before = uploaded.get(path);
    if (before) return before;
    const answer = await client("POST", "/api/media", { key, bytes: await fileAt(path) });
    const { body } = expectStatus(`uploading ${path}`, answer, 201);
    uploaded.set(path, body);
    return body;
  };
  // Creates them in reverse, because lists show the newest first.
  for (const template of [...missing].reverse()) {
    const created = await client("POST", "/api/workflows", { key, body: await bodyOf(template, upload) });
    const { slug } = expectStatus(`creating template ${template.name}`, created, 201).body;
    expectStatus(
      `choosing template ${slug}`,
      await client("PATCH", `/api/admin/templates/${slug}`, { key, body: { featured: true } }),
      200,
    );
  }
  return missing.length;
};
