/** Edits of the workflows: regressions that their tests must fail, and harmless edits that must pass. Values come from a seed. */
import { edge, node } from "../support/graph.mjs";
import { TEMPLATES } from "./graphs.mjs";

/** @typedef {import("./graphs.mjs").Template} Template */
/** @typedef {() => number} Random numbers from 0 to 1 */
/** @typedef {{ name: string, edit: (template: Template, random: Random) => void, isFree?: boolean }} Edit */

const SLOW_MS = 9_000;

/** @template T @param {readonly T[]} from @param {Random} random @returns {T} */
export const pick = (from, random) => /** @type {T} */ (from[Math.floor(random() * from.length)]);

/** @param {Template} template @param {string} id */
const dataOf = ({ nodes }, id) => {
  const foundNode = nodes.find((one) => one.id === id);
  if (!foundNode) throw new Error(`no node ${id}`);
  return foundNode.data;
};

/** @param {Template} template @param {string} target */
const withoutEdgeTo = (template, target) => {
  template.edges = template.edges.filter(({ target: id, targetHandle }) => `${id}.${targetHandle}` !== target);
};

/** @param {Template} template @param {string} source @param {string} target */
const rewired = (template, source, target) => {
  withoutEdgeTo(template, target);
  template.edges.push(edge(source, target));
};

const SLIPS = ["A picture of a subject", "Describe the thing", "A scene by the sea", "Something calm and bright"];

/** Every run has the same prompt. @type {Edit} */
const slip = {
  name: "prompt slip",
  edit: (template, random) => {
    dataOf(template, "prompt").text = pick(SLIPS, random);
    withoutEdgeTo(template, "prompt.subject");
  },
};
/** @type {Edit} */
const slower = {
  name: "slower",
  edit: (template, random) => void (dataOf(template, "make").inputs.sandbox = { latencyMs: SLOW_MS + Math.floor(random() * 1_000) }),
};
/** @param {...string} models @returns {Edit} */
const wrongModel = (...models) => ({
  name: "wrong model",
  edit: (template, random) => void (dataOf(template, "make").model = pick(models, random)),
});
/** @param {string} output @returns {Edit} */
const dropped = (output) => ({ name: `dropped ${output}`, edit: (template) => withoutEdgeTo(template, `out.${output}`) });
/** @param {string} name @param {number[]} seconds @returns {Edit} */
const length = (name, ...seconds) => ({
  name,
  edit: (template, random) => void (dataOf(template, "make").inputs.seconds = pick(seconds, random)),
});
/** @type {Edit} */
const aspect = {
  name: "aspect",
  edit: (template, random) =>
    void Object.assign(dataOf(template, "small"), { width: 64 + Math.floor(random() * 128), height: 160 + Math.floor(random() * 128) }),
};

/** @type {Record<keyof typeof TEMPLATES, Edit[]>} */
export const REGRESSIONS = {
  poster: [slip, slower, wrongModel("sandbox-image"), aspect, dropped("images"), dropped("small")],
  banner: [
    slip,
    slower,
    wrongModel("sandbox-image"),
    {
      name: "misspelt text",
      edit: (template, random) => void (dataOf(template, "sign").text = pick(["SUMER SAIL", "WINTER SALE", "SUMMER"], random)),
    },
    { name: "dropped text", edit: (template) => rewired(template, "make.image", "out.banner") },
    { name: "other scene", edit: (template, random) => void (dataOf(template, "make").inputs.prompt = `a storm ${random()}`) },
  ],
  clip: [slip, slower, wrongModel("sandbox-video-pro"), length("twice the price", 4, 5, 6), length("half the length", 1)],
  film: [
    slip,
    slower,
    wrongModel("sandbox-video-pro"),
    length("twice the price", 5, 6),
    { name: "dropped sound", edit: (template) => rewired(template, "make.video", "out.film") },
    { name: "quiet sound", edit: (template, random) => void (dataOf(template, "mux").volume = 0.01 + random() * 0.03) },
  ],
  card: [
    slip,
    slower,
    dropped("card"),
    {
      name: "wrong type",
      edit: (template, random) => void (dataOf(template, "make").schema.properties.lines.type = pick(["string", "boolean"], random)),
    },
    {
      name: "missing member",
      edit: (template, random) => {
        const name = pick(["title", "lines"], random);
        const { properties } = dataOf(template, "make").schema;
        dataOf(template, "make").schema = {
          type: "object",
          required: [name],
          properties: { [name]: properties[name] },
          additionalProperties: false,
        };
      },
    },
  ],
  letter: [
    slip,
    dropped("letter"),
    { name: "cut answer", edit: (template, random) => void (dataOf(template, "make").inputs.maxTokens = 3 + Math.floor(random() * 3)) },
  ],
};

const WORDS = [
  "A bright scene with a {{subject}} by the sea",
  "Two friends at a {{subject}} at dusk",
  "An old {{subject}} in the fog",
  "The {{subject}} of our town",
];

/**
 * If `isFree` is true, tests after the edit cost nothing.
 * @type {Edit[]}
 */
export const HARMLESS = [
  {
    name: "moved nodes",
    edit: ({ nodes }, random) =>
      nodes.forEach((one) => (one.position = { x: Math.floor(random() * 2_000), y: Math.floor(random() * 2_000) })),
    isFree: true,
  },
  { name: "reordered nodes", edit: (template) => void template.nodes.reverse(), isFree: true },
  { name: "reordered edges", edit: (template) => void template.edges.reverse(), isFree: true },
  { name: "a note", edit: ({ nodes }, random) => void nodes.push(node("remark", "note", { text: `Reviewed ${random()}` })), isFree: true },
  {
    name: "a label",
    edit: (template, random) => void (dataOf(template, "make").label = `Maker ${Math.floor(random() * 100)}`),
    isFree: true,
  },
  { name: "another output", edit: ({ edges }) => void edges.push(edge("in.subject", "out.subject")), isFree: true },
  { name: "other words", edit: (template, random) => void (dataOf(template, "prompt").text = pick(WORDS, random)) },
];
