import { refuses } from "../../conformance/check";
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

let slug = "";

export const boundsCases: AbuseCase[] = [
  {
    id: "bounds-copies",
    title: "one input of 250 kB, fifty items and 24 boxes, as a quote and as a run",
    prepare: async ({ attacker }) => {
      slug = await save(attacker, copies);
    },
    attack: async ({ attacker }) => {
      const inputs = { big: "x".repeat(INPUT_CHARS) };
      for (const path of ["quote", "run"]) {
        const answer = await attacker.post(`/api/workflows/${slug}/${path}`, { inputs });
        if (answer.status !== 429) refuses(answer, 422, "WORKFLOW_INVALID");
      }
    },
  },
];
