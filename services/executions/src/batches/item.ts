import { randomUUID } from "node:crypto";
import { derivedId } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { BatchRecord, ItemInput, UnderWay } from "../run/batch";
import { metadataOf } from "../run/record";
import type { Runner } from "../run/runner";

/** The id is deterministic, so an item runs once however often it is started. */
export const itemExecutionId = (batchId: string, index: number): string => derivedId("batch", batchId, String(index));

/** @param mayWait true if the run can be queued when no place is free */
export const itemRequest = (
  batch: BatchRecord,
  { index, reserved }: UnderWay,
  { inputsJson, settingsJson, sources = [] }: ItemInput,
  { runner, mayWait, isNew }: { runner: Runner; mayWait: boolean; isNew: boolean },
): executions.RunRequest =>
  executions.RunRequest.fromPartial({
    executionId: itemExecutionId(batch._id, index),
    target: { target: batch.target, version: batch.version, alias: batch.alias, until: batch.until ?? "" },
    runner: batch.itemWebhooks ? runner : { ...runner, webhookUrl: "", webhookEvents: [], endpointEvents: [] },
    inputsJson,
    settingsJson,
    mode: executions.RunMode.RUN_MODE_RESPOND_ASYNC,
    waitMs: 0,
    maxMillicredits: batch.maxMillicredits === undefined ? undefined : reserved,
    requestToken: randomUUID(),
    isNew,
    noQueue: !mayWait,
    metadata: metadataOf(batch.metadata),
    retentionDays: batch.retentionDays,
    batch: { batchId: batch._id, index },
    ...(sources.length > 0 ? { rerun: { sources: [...sources], otherGraph: true } } : {}),
  });

/** Items of a batch, in order. Those of a file or of an earlier batch are read again in each iteration, so that they needn't fit in memory. */
export type Items = Iterable<ItemInput> | AsyncIterable<ItemInput>;

/** Maximum items, and about the maximum characters, that are in memory at once. */
const PAGE_ITEMS = 100;
const PAGE_CHARS = 1024 * 1024;

/** Groups items into pages. A page with a long item has few items. */
export async function* itemPages(items: Items): AsyncGenerator<ItemInput[]> {
  let page: ItemInput[] = [];
  let chars = 0;
  for await (const item of items) {
    page.push(item);
    chars += item.inputsJson.length + item.settingsJson.length;
    if (page.length < PAGE_ITEMS && chars < PAGE_CHARS) continue;
    yield page;
    [page, chars] = [[], 0];
  }
  if (page.length > 0) yield page;
}
