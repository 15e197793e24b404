/** Items of a batch as runs. */
import { createHash, randomUUID } from "node:crypto";
import { executions } from "@nodeloom/proto";
import type { BatchRecord, ItemInput, UnderWay } from "../../run/batch";
import { metadataOf } from "../../run/record";

const HEX_PARTS = [8, 12, 16, 20, 32] as const;

/** The execution of an item: the same however often it is begun, so that it is run once. A UUID of version 8 (RFC 9562). */
export const itemExecutionId = (batchId: string, index: number): string => {
  const hash = createHash("sha256").update(`${batchId} ${index}`).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return HEX_PARTS.map((end, part) => hex.slice(HEX_PARTS[part - 1] ?? 0, end)).join("-");
};

/** @param mayWait in line for a place, where none is free */
export const itemRequest = (
  batch: BatchRecord,
  { index, reserved }: UnderWay,
  { inputsJson, settingsJson }: ItemInput,
  { runner, mayWait, isNew }: { runner: executions.Runner; mayWait: boolean; isNew: boolean },
): executions.RunRequest =>
  executions.RunRequest.fromPartial({
    executionId: itemExecutionId(batch._id, index),
    target: { target: batch.target, version: batch.version },
    runner: batch.itemWebhooks ? runner : { ...runner, webhookUrl: "", webhookEvents: [] },
    inputsJson,
    settingsJson,
    mode: executions.RunMode.RUN_MODE_RESPOND_ASYNC,
    waitMs: 0,
    maxMillicredits: batch.maxMillicredits === undefined ? undefined : reserved,
    requestToken: randomUUID(),
    isNew,
    noQueue: !mayWait,
    metadata: metadataOf(batch.metadata),
    batch: { batchId: batch._id, index },
  });
