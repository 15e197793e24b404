/**
 * The templates that a new installation offers: pipelines by purpose, each with its inputs filled and with what it made as its cover.
 * They belong to the administrator.
 */
import { readFile } from "node:fs/promises";
import { expectStatus } from "../client.mjs";
import { CLIPS } from "./clips.mjs";
import { FILM_FROM_AN_IDEA } from "./film-from-an-idea.mjs";
import { NARRATED_SLIDESHOW } from "./narrated-slideshow.mjs";
import { PICTURES } from "./pictures.mjs";
import { VOICES } from "./voices.mjs";

/**
 * @typedef {object} Template
 * @property {string} slug
 * @property {string} name
 * @property {string} description
 * @property {string[]} tags
 * @property {import("../graph.mjs").Node[]} nodes
 * @property {ReturnType<typeof import("../graph.mjs").edge>[]} edges
 */

/** In the order in which they are shown. @type {readonly Template[]} */
export const TEMPLATES = [FILM_FROM_AN_IDEA, NARRATED_SLIDESHOW, ...CLIPS, ...VOICES, ...PICTURES];

/** What a field's default says instead of the id of a file: `sample:harbour.jpg`. */
const SAMPLE = /"sample:([a-z0-9.-]+)"/g;

/** Files of samples/ that a template begins with. @param {Template} template */
export const samplesOf = ({ nodes }) => [...new Set([...JSON.stringify(nodes).matchAll(SAMPLE)].map(([, name]) => name ?? ""))];

/** @param {string} path of a file in this folder */
const fileAt = (path) => readFile(new URL(path, import.meta.url));

/** Where a template's cover is kept. @param {string} slug */
export const coverPath = (slug) => `covers/${slug}.webp`;

/**
 * A template as it is created: the files that it begins with are named by their ids.
 * @param {Template} template @param {(path: string) => Promise<{ id: string, url: string }>} upload
 */
const bodyOf = async (template, upload) => {
  const { slug, nodes, ...rest } = template;
  const ids = new Map();
  for (const name of samplesOf(template)) ids.set(name, (await upload(`samples/${name}`)).id);
  // A start may take another port than the one before.
  const image = new URL((await upload(coverPath(slug))).url).pathname;
  const named = JSON.stringify(nodes).replace(SAMPLE, (_, name) => JSON.stringify(ids.get(name)));
  return { ...rest, nodes: JSON.parse(named), cover: { image }, isTemplate: true };
};

/**
 * Creates the templates that are not there yet.
 * @param {{ client: import("../client.mjs").Client, key: string }} options `key`: the administrator's
 * @returns {Promise<number>} how many were created
 */
export const seedTemplates = async ({ client, key }) => {
  const listed = expectStatus("listing workflows", await client("GET", "/api/workflows", { key }), 200);
  const templates = listed.body.filter((/** @type {{ isTemplate: boolean }} */ { isTemplate }) => isTemplate);
  const known = new Set(templates.map((/** @type {{ name: string }} */ { name }) => name));
  const missing = TEMPLATES.filter(({ name }) => !known.has(name));
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
  // Lists show the newest first.
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
