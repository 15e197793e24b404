import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { newRecord } from "../../../services/executions/test/support";
import { completedCall } from "../../../services/executions/src/run/call-record";
import { NEW_STANDING } from "../../../services/notifications/src/delivery";
import type { World } from "./stores";

export const DAY_MS = 86_400_000;
/** Files per run on average: every fifth run makes a second one. */
const SECOND_FILE_EVERY = 5;
/** Number of concurrent writers. */
const WRITERS = 16;
export const OWNERS = 5_000;
/** Changes of keys, secrets and workflows: one for ten runs. */
export const AUDITED_EVERY = 10;
/** Rows of a run in the ledger: a hold, a capture, a release. */
export const LEDGER_ROWS = 3;
const TOP_UP_MILLICREDITS = 1e9;
const FILE = Buffer.alloc(1_024, 7);
const COST = { costMicroUsd: 20_000, userCostMicroUsd: 30_000, millicredits: 3_000 };

/** Owner of a run. A few owners have most runs: the first of 5,000 has 1.4 %, the first hundred 14 %. */
export const ownerOf = (run: number): string => `owner-${Math.floor(OWNERS * ((run * 0.618_033_988_75) % 1) ** 2)}`;

/** Bytes are written without `stage`, which syncs each file: the drill measures removal. */
const writeBlob = async (folder: string, name: string): Promise<void> => {
  const path = join(folder, name.slice(0, 2), name.slice(2, 4), name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, FILE);
};

const writeFileOf = async (
  { objects, folder }: World,
  userId: string,
  executionId: string,
  item: number,
  createdAt: Date,
): Promise<void> => {
  const blob = randomUUID().replaceAll("-", "");
  await writeBlob(folder, blob);
  await objects.insert({
    ...{ id: `${executionId}-0-${item}-0`, key: blob, ownerId: userId, blob, createdAt, origin: "generated", private: true },
    ...{ contentType: "image/png", bytes: FILE.length, sha256: blob + blob, width: 1_024, height: 1_024 },
  });
};

/** Holds and captures the credits of a run. */
const chargeRun = async ({ billing }: World, userId: string, executionId: string): Promise<void> => {
  const key = "pic:0";
  await billing.hold({ userId, executionId, items: [{ key, model: "painter", maxMillicredits: 4_000 }], maxActive: 0 });
  const items = [{ key, captureMillicredits: COST.millicredits, consumeGrant: false }];
  await billing.settle({ userId, executionId, items, captureAll: false });
};

/** Writes the message to the run's webhook, which its first attempt delivered. */
const writeDelivery = async ({ deliveries }: World, ownerId: string, executionId: string, at: Date): Promise<void> => {
  const attempt = { key: "1:1", delivery: 1, attempt: 1, url: "https://example.com/hook", at, status: 200, error: null, durationMs: 80 };
  const earlier = { ...NEW_STANDING, state: "delivered" as const, attempts: 1, deliveredAt: at, history: [attempt] };
  const message = { _id: executionId, ownerId, keyId: "key", event: "execution.completed", about: { kind: "run" as const, executionId } };
  await deliveries.insert({ ...message, earlier }, at);
};

const writeAuditRow = async ({ audit }: World, ownerId: string): Promise<void> => {
  const change = { changeJson: '{"name":"a key"}', beforeJson: "", afterJson: '{"name":"a key"}', errorCode: "", requestId: "" };
  await audit.record({
    ...{ id: randomUUID(), actorId: ownerId, keyId: "", action: "key.create", target: "key", outcome: "done" as const, ownerId },
    ...change,
  });
};

/** Gives every owner credits for all runs. */
export const fund = async ({ billing }: World): Promise<void> => {
  const credit = { kind: "topup", millicredits: TOP_UP_MILLICREDITS } as const;
  for (let owner = 0; owner < OWNERS; owner += WRITERS)
    await Promise.all(
      Array.from({ length: Math.min(WRITERS, OWNERS - owner) }, (_, index) =>
        billing.credit({ userId: `owner-${owner + index}`, credit, note: "", reference: "start" }),
      ),
    );
};

/**
 * Writes one completed run as its services do: its credits, the row, its call, its usage, its files, its webhook, and a row of the audit log
 * for some.
 */
const writeRun = async (world: World, run: number, at: Date): Promise<void> => {
  world.clock.time = at;
  const userId = ownerOf(run);
  const record = newRecord(userId, {
    status: "completed",
    createdAt: at,
    finishedAt: at,
    durationMs: 900,
    resultJson: '{"image":"a file"}',
  });
  const executionId = record._id;
  await chargeRun(world, userId, executionId);
  await world.runs.rows.insert(record);
  const result = { files: [], text: "x", costMicroUsd: COST.costMicroUsd, requestId: null };
  await world.runs.calls.recordEnd(completedCall({ key: `${executionId}:pic:0`, executionId, nodeId: "pic", item: 0 }, result));
  await world.usage.finish(
    { executionId, userId, workflowSlug: null, modelIds: ["painter"], source: "api-slim", startedAt: at, metadata: {}, keyId: "" },
    { status: "completed", ...COST, durationMs: 900, errorCode: null, requestId: null, modelCredits: [] },
    true,
  );
  await writeFileOf(world, userId, executionId, 0, at);
  if (run % SECOND_FILE_EVERY === 0) await writeFileOf(world, userId, executionId, 1, at);
  await writeDelivery(world, userId, executionId, at);
  if (run % AUDITED_EVERY === 0) await writeAuditRow(world, userId);
};

/** Writes the runs of a day, spread evenly over it. @returns the number of files */
export const writeDay = async (world: World, start: Date, runs: number): Promise<number> => {
  let next = 0;
  const write = async (): Promise<void> => {
    for (let run = next; run < runs; run = next) {
      next += 1;
      await writeRun(world, run, new Date(start.getTime() + Math.floor((run / runs) * DAY_MS)));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return runs + Math.ceil(runs / SECOND_FILE_EVERY);
};
