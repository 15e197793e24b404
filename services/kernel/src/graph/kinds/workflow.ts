import { isSlug } from "../../limits";
import { schemaPorts } from "../wiring/ports";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { isRecord } from "../types";
import type { NodeKind } from "./kind";

/** The version that is not published. */
const DRAFT = "draft";

const isVersion = (version: unknown): boolean =>
  version === undefined ||
  version === null ||
  version === "" ||
  version === DRAFT ||
  (Number.isInteger(version) && (version as number) >= 1);

/** Before a run is planned, the nodes of the other workflow come in its place: see inline/. */
export const workflow: NodeKind = {
  type: "workflow",
  summary: "Runs another workflow as a part of this one: its fields are the inputs, the members of its result the outputs.",
  settings: {
    slug: { type: "string", description: "A workflow of yours, or a template." },
    version: { description: "A published version's number, or `draft`; by default the newest version, or the draft while there is none." },
    inputs: { type: "object", description: "Values of its fields, where nothing flows in." },
  },
  calls: null,
  runs: true,
  inputs: (_node, schema) => new Map(schema ? schemaPorts(schema) : []),
  outputs: (_node, results = []) => new Map(results.map((name) => [name, "any"])),
  check: ({ data: { slug, version, inputs } }) => [
    ...(typeof slug === "string" && isSlug(slug) ? [] : ["slug: must name a workflow"]),
    ...(isVersion(version) ? [] : [`version: must be a version's number or "${DRAFT}"`]),
    ...(inputs === undefined || inputs === null || isRecord(inputs) ? [] : ["inputs: must be an object"]),
  ],
  plan: () => NOTHING_PLANNED,
};
