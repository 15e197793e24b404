import { CAPS, creditLimit, GRAPH_BOUNDS } from "@nodeloom/kernel";
import { elements, members } from "@nodeloom/kernel/json-text";
import { batches, type executions } from "@nodeloom/proto";
import { z } from "zod";
import type { CallContext } from "../../edge/route";
import { anyObject, identifier } from "../../http/schemas";
import { retentionDays } from "../executions/retention";
import { toRunner } from "../runs/run";
import { checkMetadata } from "../runs/routes";
import { maxCredits, metadata, until } from "../runs/schemas";
import { batchWebhook } from "../runs/webhook";
import { selectedGraph, type VersionSelection } from "../workflows/selection";

const MAX_AT_ONCE = 1_000;
const BATCH_END = "batch.completed";

const inputs = z
  .array(anyObject)
  .min(1, "must have at least one item")
  .max(CAPS.batchRows.ceiling, `can have at most ${CAPS.batchRows.ceiling} items`)
  .meta({ description: "Inputs, one object per item" });
const mediaId = identifier.meta({
  description:
    "Instead of `inputs`: a CSV or JSONL file of yours (at most 100 MB, and as many rows as your tier allows). The first line of a CSV file has the names of the inputs, separated by commas, semicolons or tabs. Values take the types of the workflow's fields; an empty cell leaves the input out",
});
export const settings = z.record(z.string().max(GRAPH_BOUNDS.nodeIdBytes), anyObject).meta({
  description:
    "Settings by node id, which replace those in your own graph; each member of `inputs` on its own. Without `workflow:write`, you can set `model` (with the capability of that model) and the `inputs` of generators",
});
const items = z
  .array(z.strictObject({ inputs: anyObject, settings: settings.optional() }))
  .min(1, "must have at least one item")
  .max(CAPS.batchRows.ceiling, `can have at most ${CAPS.batchRows.ceiling} items`)
  .meta({ description: "Instead of `inputs`: items with their own settings, to compare several" });

const common = {
  maxCredits: maxCredits.meta({
    description:
      "Maximum cost of all items together. If the expected cost is higher, the batch is rejected. If the actual cost would be higher, the batch pauses",
  }),
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(MAX_AT_ONCE)
    .optional()
    .meta({ description: "Concurrent items. Maximum and default: half of your tier's concurrent runs" }),
  onError: z.enum(["continue", "stop"]).optional().meta({ description: "`stop`: after a failed item, no further item begins" }),
  metadata: metadata.optional(),
  itemWebhooks: z.boolean().optional().meta({ description: "Sends the end of each item to the batch's webhook, or else to the key's" }),
  webhook: batchWebhook.optional(),
  retentionDays: retentionDays.meta({
    description:
      "Days for which the batch is kept after its end, with its rows and items. The workflow's own value counts if it is smaller",
  }),
};

interface Sources {
  inputs?: unknown;
  items?: unknown;
  mediaId?: unknown;
}
const isOne = (sources: Sources): boolean =>
  [sources.inputs, sources.items, sources.mediaId].filter((one) => one !== undefined).length === 1;

export const workflowBatch = z
  .strictObject({ inputs: inputs.optional(), items: items.optional(), mediaId: mediaId.optional(), until, ...common })
  .refine(isOne, { path: ["inputs"], message: "send one of inputs, items and mediaId" })
  .meta({
    id: "WorkflowBatchRequest",
    override: { oneOf: [{ required: ["inputs"] }, { required: ["items"] }, { required: ["mediaId"] }] },
  });
export const modelBatch = z
  .strictObject({ inputs: inputs.optional(), mediaId: mediaId.optional(), ...common })
  .refine(isOne, { path: ["inputs"], message: "send inputs or mediaId" })
  .meta({ id: "ModelBatchRequest", override: { oneOf: [{ required: ["inputs"] }, { required: ["mediaId"] }] } });

export type BatchContext = CallContext<"any", unknown, VersionSelection, z.infer<typeof workflowBatch>>;
type TargetCase = NonNullable<executions.Target["target"]>["$case"];

const itemsOf = (sentParts: ReadonlyMap<string, string>): batches.BatchItem[] => {
  const inputsText = sentParts.get("inputs");
  if (inputsText !== undefined) return elements(inputsText).map((inputsJson) => ({ inputsJson, settingsJson: "" }));
  return elements(sentParts.get("items") ?? "[]").map((item) => {
    const own = members(item);
    return { inputsJson: own.get("inputs") ?? "{}", settingsJson: own.get("settings") ?? "" };
  });
};

/** @param own members of the batch's own webhook */
export const orderOf = (
  { caller, body, query, members: sentMembers }: BatchContext,
  $case: TargetCase,
  value: string,
  own: Partial<executions.Runner> = {},
): batches.BatchOrder => {
  checkMetadata(sentMembers().get("metadata"));
  return batches.BatchOrder.fromPartial({
    target: { target: { $case, value }, ...($case === "model" ? {} : selectedGraph(caller, query)), until: body.until ?? "" },
    runner: { ...toRunner(caller, $case === "model" ? "model" : "workflow"), ...own },
    items: itemsOf(sentMembers()),
    mediaId: body.mediaId ?? "",
    maxMillicredits: body.maxCredits === undefined ? undefined : creditLimit(body.maxCredits),
    concurrency: body.concurrency ?? 0,
    stopOnError: body.onError === "stop",
    metadata: body.metadata ?? {},
    itemWebhooks: body.itemWebhooks ?? body.webhook?.events?.some((event) => event !== BATCH_END) ?? false,
    retentionDays: body.retentionDays,
  });
};
