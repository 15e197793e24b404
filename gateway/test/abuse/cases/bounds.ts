import assert from "node:assert/strict";
import { answers, refuses } from "../../conformance/check";
import { edge, node, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

const BOXES = 24;
const ITEMS = 50;
const INPUT_CHARS = 250_000;

const boxes = Array.from({ length: BOXES }, (_, index) => `box${index}`);
/** Text boxes over a list: each makes fifty copies of the input. */
const copies = {
  name: "Copies",
  nodes: [
    node("in", "request-input", { fields: [{ name: "big", type: "textarea", label: "big" }] }),
    node("list", "list", { items: Array.from({ length: ITEMS }, (_, index) => String(index)) }),
    ...boxes.map((id) => node(id, "text-box", { text: "{{big}} {{item}}" })),
    node("out", "response-output"),
  ],
  edges: boxes.flatMap((id) => [edge("in.big", `${id}.big`), edge("list.items", `${id}.item`), edge(`${id}.text`, `out.${id}`)]),
};

/** Like `copies`, but after a text that is known only during the run. */
const copiesInRun = {
  name: "Copies in the run",
  nodes: [
    ...copies.nodes.filter((one) => !boxes.includes((one as { id: string }).id)),
    ...boxes.map((id) => node(id, "text-box", { text: "{{big}} {{item}} {{written}}" })),
    node("writer", "llm-assistant", { model: "sandbox-chat", prompt: "a loom", maxTokens: 5 }),
  ],
  edges: [...copies.edges, ...boxes.map((id) => edge("writer.text", `${id}.written`))],
};

const PLACEHOLDERS = 20_000;
const unresolved = {
  name: "Unresolved",
  nodes: Array.from({ length: 8 }, (_, box) =>
    node(`box${box}`, "text-box", { text: Array.from({ length: PLACEHOLDERS }, (__, index) => `{{p${box}x${index}}}`).join("") }),
  ),
};

/** Nested workflows that would expand to 20^5 nodes. */
const DEPTH = 5;
const NESTED = 20;

const CHAIN = 60;
/** Each node of a chain doubles its input. */
const doubling = (type: string, data: object, [input, output]: readonly [string, string]) => ({
  name: "Doubling",
  nodes: [
    node("in", "request-input", { fields: [{ name: "value", type: "text", label: "value" }] }),
    ...Array.from({ length: CHAIN }, (_, index) => node(`n${index}`, type, { ...data })),
    node("out", "response-output"),
  ],
  edges: [
    edge("in.value", `n0.${input}`),
    ...Array.from({ length: CHAIN - 1 }, (_, index) => edge(`n${index}.${output}`, `n${index + 1}.${input}`)),
    edge(`n${CHAIN - 1}.${output}`, "out.value"),
  ],
});
const doublings = [
  doubling("text-box", { text: "{{a}}{{a}}" }, ["a", "text"]),
  doubling("json", { expression: "[@, @]" }, ["value", "value"]),
  doubling("list", { items: [1, 2, 3] }, ["items", "items"]),
];

const slugs: Record<string, string> = {};
const WARNINGS = 100;
const ANSWER_CHARS = 128 * 1024;

export const boundsCases: AbuseCase[] = [
  {
    id: "bounds-copies",
    title: "one input of 250 kB, fifty items and 24 boxes, as a quote and as a run",
    requests: 2,
    prepare: async ({ unlimited }) => {
      slugs.copies = await save(unlimited, copies);
    },
    attack: async ({ unlimited }) => {
      const inputs = { big: "x".repeat(INPUT_CHARS) };
      for (const path of ["quote", "run"]) {
        refuses(await unlimited.post(`/api/workflows/${slugs.copies}/${path}`, { inputs }), 422, "WORKFLOW_INVALID");
      }
    },
  },
  {
    id: "bounds-copies-in-run",
    title: "the same behind a text that is written only in the run",
    prepare: async ({ unlimited }) => {
      slugs.inRun = await save(unlimited, copiesInRun);
    },
    attack: async ({ unlimited }) => {
      const inputs = { big: "x".repeat(INPUT_CHARS) };
      const answer = await unlimited.post(`/api/workflows/${slugs.inRun}/run`, { inputs });
      refuses(answer, 500, "EXECUTION_FAILED");
      assert.match(String(answer.body.error), /box\d+/);
    },
  },
  {
    id: "bounds-warnings",
    title: "160,000 placeholders that nothing fills",
    prepare: async ({ unlimited }) => {
      slugs.unresolved = await save(unlimited, unresolved);
    },
    attack: async ({ unlimited }) => {
      const answer = await unlimited.post(`/api/workflows/${slugs.unresolved}/quote`, { inputs: {} });
      assert.ok(answer.text.length < ANSWER_CHARS, `${answer.text.length} characters`);
      if (answer.status === 422) return;
      const { nodes } = answers(answer, 200).body as { nodes: { warnings?: unknown[] }[] };
      assert.ok(nodes.flatMap(({ warnings = [] }) => warnings).length <= WARNINGS);
    },
  },
  {
    id: "bounds-nested",
    title: "workflows of twenty workflows of twenty workflows, five deep, and models in each other's places",
    requests: 3,
    prepare: async ({ unlimited }) => {
      let slug = await save(unlimited, { nodes: [node("box", "text-box", { text: "x" })] });
      for (let level = 0; level < DEPTH; level += 1) {
        const data = { slug };
        slug = await save(unlimited, { nodes: Array.from({ length: NESTED }, (_, index) => node(`w${index}`, "workflow", data)) });
      }
      slugs.nested = slug;
      const fallback = Array.from({ length: CHAIN }, (_, index) => `sandbox-image-${index}`);
      slugs.chain = await save(unlimited, { nodes: [node("pic", "generate-image", { model: "sandbox-image", prompt: "x", fallback })] });
    },
    attack: async ({ unlimited }) => {
      for (const path of ["quote", "run"])
        refuses(await unlimited.post(`/api/workflows/${slugs.nested}/${path}`, { inputs: {} }), 422, "WORKFLOW_INVALID");
      const answer = refuses(await unlimited.post(`/api/workflows/${slugs.chain}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
      assert.ok(answer.text.length < ANSWER_CHARS, `${answer.text.length} characters`);
    },
  },
  {
    id: "bounds-doubling",
    title: "sixty nodes, each of which doubles what it is given",
    requests: doublings.length,
    prepare: async ({ unlimited }) => {
      for (const [index, graph] of doublings.entries()) slugs[`doubling${index}`] = await save(unlimited, graph);
    },
    attack: async ({ unlimited }) => {
      for (const index of doublings.keys()) {
        const inputs = { value: index === 1 ? "[1]" : "x" };
        const answer = await unlimited.post(`/api/workflows/${slugs[`doubling${index}`]}/run`, { inputs });
        assert.ok(answer.text.length < ANSWER_CHARS, `${answer.text.length} characters`);
        if (answer.status !== 200) refuses(answer, 422, "WORKFLOW_INVALID");
      }
    },
  },
];
