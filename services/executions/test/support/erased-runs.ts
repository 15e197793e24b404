/** Runs with a word in all of their stored data, and services that erase their parts. */
import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { mongo, type Connection } from "mongoose";
import { createRunDeletion } from "../../src/erasure/deletion";
import { createRunErasure } from "../../src/erasure/runs";
import { createOutbox } from "../../src/lifecycle/outbox";
import { createKeepGraph, GRAPH_SETTLED_MS } from "../../src/plan/kept-graphs";
import type { Stores } from "../../src/record/stores";
import { completedCall } from "../../src/run/call-record";
import { metadataKeys, type ExecutionRecord } from "../../src/run/record";
import { createClaimCheckCodec } from "../../src/workflow/claim-check";
import { newRecord } from ".";
import { logger } from "./money";

const none = (): never => {
  throw new Error("nothing else is owed");
};

export interface StoredFile {
  id: string;
  key: string;
  executionId: string;
  kept: boolean;
}

export const long = (word: string): string => JSON.stringify({ prompt: `${word} `.repeat(1_000) });

/** @param opened the stores and their connection */
export const createErasedRuns = ({ stores, connection }: { stores: Stores; connection: Connection }) => {
  /** Services that erase their part. `fails` is the number of next calls of one of them that fail. */
  const createServices = (files: StoredFile[] = []) => {
    const fails = { usage: 0, notifications: 0, media: 0, temporal: 0 };
    const erased: string[] = [];
    const step = (name: keyof typeof fails): Promise<void> => {
      if (fails[name] === 0) return Promise.resolve(void erased.push(name));
      fails[name] -= 1;
      return Promise.reject(new Error(`${name} is unavailable`));
    };
    const part = (name: keyof typeof fails) => ({ eraseRuns: () => step(name).then(() => ({})) });
    const erase = createRunErasure({
      stores,
      media: {
        findRunFiles: async ({ executionId, names }) => ({
          files: files.filter((file) => file.id.startsWith(`${executionId}-`) || names.includes(file.key)),
          nextCursor: "",
        }),
        forgetInputs: () => Promise.resolve({}),
        removeFiles: async ({ ids }) => {
          await step("media");
          for (const id of ids)
            files.splice(
              files.findIndex((file) => file.id === id),
              1,
            );
          return {};
        },
      },
      erasures: { usage: part("usage"), notifications: part("notifications") },
      leaver: { removeRun: () => step("temporal"), removeDeliveries: () => Promise.resolve() },
      // Graphs are removed once no process can still use them.
      now: () => Date.now() + 2 * GRAPH_SETTLED_MS,
    });
    const outbox = createOutbox({
      ...{ stores, logger, erase },
      holds: { void: none },
      queue: { leave: none },
      reports: { started: none, finished: none },
      webhooks: { end: none, waiting: none },
      canaries: { count: none, release: none },
      mailApprovers: none,
      starter: { cancel: none, decided: none },
    });
    const remove = createRunDeletion({ stores, outbox, awaitDelivered: () => Promise.resolve() });
    return { fails, erased, files, outbox, remove };
  };

  const countOf = async (word: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const { collectionName } of await connection.db!.collections())
      for await (const document of connection.db!.collection(collectionName).find()) {
        const { bytes } = document as { bytes?: { buffer: Uint8Array } };
        const parts = [Buffer.from(mongo.BSON.serialize(document)), ...(bytes ? [Buffer.from(bytes.buffer)] : [])];
        const whole = parts.flatMap((part) => (part[0] === 0x1f && part[1] === 0x8b ? [part, gunzipSync(part)] : [part]));
        if (whole.some((part) => part.includes(word))) counts[collectionName] = (counts[collectionName] ?? 0) + 1;
      }
    return counts;
  };

  /** Inserts a run with a word in all of its stored data. */
  const insertRun = async (word: string, userId: string, more: Partial<ExecutionRecord> = {}): Promise<ExecutionRecord> => {
    const id = randomUUID();
    const { payloads } = stores;
    const keepGraph = createKeepGraph(payloads);
    const nodesJson = JSON.stringify([{ id: "n", data: { text: long(word) } }]);
    const record: ExecutionRecord = {
      ...newRecord(userId, { status: "completed" }),
      ...{ _id: id, holdId: `${id}.1`, metadata: metadataKeys({ customer: word }), outbox: [], finishedAt: new Date() },
      inputs: await payloads.putText(long(word), id),
      graph: await keepGraph(word, { nodesJson, edgesJson: "[]", pinnedModels: {} }, userId),
      resultJson: long(word),
      ...more,
    };
    delete record.unsettled;
    await stores.rows.insert(record);
    const key = `${id}:pic:0`;
    await stores.calls.recordEnd(
      completedCall({ key, executionId: id, nodeId: "pic", item: 0 }, { files: [], text: word, costMicroUsd: 1, requestId: null }),
    );
    await stores.submissions.claim(key, "process");
    const payload = { metadata: {}, data: Buffer.from(long(word)) };
    await createClaimCheckCodec(payloads).encode([payload], { type: "workflow", namespace: "default", workflowId: id });
    return record;
  };

  /** Delivers an erased run's pending work, as the relay does, until none is left. */
  const relayed = async ({ outbox }: ReturnType<typeof createServices>, id: string): Promise<void> => {
    await outbox.drain();
    for (let row = await stores.rows.find(id); row && row.outbox.length > 0; row = await stores.rows.find(id)) await outbox.deliver(row);
  };

  return { createServices, countOf, insertRun, relayed };
};
