import { randomUUID } from "node:crypto";
import { createGrpcClient, createLogger } from "@nodeloom/platform";
import { media as mediaProto, usage as usageProto, workflows as workflowsProto } from "@nodeloom/proto";
import { service as usageService } from "../../../../usage/src/main";
import { startWorkflows } from "../../../../workflows/test/harness";
import { createRetention, type RetentionProgress } from "../../../src/lifecycle/upkeep/retention";
import { startMigrated } from "../../../../platform/test/support/start-migrated";

const DAY_MS = 24 * 60 * 60 * 1_000;
const PNG = `data:;base64,${Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64")}`;

it("removes generated files after 90 days, unless they are kept or named, until the last moment and by a version alone too", async () => {
  const workflows = await startWorkflows();
  const usage = await startMigrated(usageService, {
    MONGODB_URI: process.env.MONGODB_URI!,
    MONGODB_DATABASE_PREFIX: workflows.prefix,
    USAGE_LISTEN: "127.0.0.1:0",
    LOG_LEVEL: "silent",
  });
  const address = `127.0.0.1:${usage.ports!.USAGE_LISTEN}`;
  const usageClient = createGrpcClient<usageProto.UsageServiceServer>(usageProto.UsageServiceService, { address });
  try {
    const { media } = workflows;
    const ownerId = randomUUID();
    const generate = async (): Promise<mediaProto.StoredObject> => {
      const request = mediaProto.IngestRequest.fromPartial({ id: `${randomUUID()}-0-0-0`, ownerId, sourceUrl: PNG });
      return (await media.ingest(request, { deadlineMs: 20_000 })).object!;
    };
    const [old, kept, named, cover] = [await generate(), await generate(), await generate(), await generate()];
    const [published, late, hidden] = [await generate(), await generate(), await generate()];
    await media.keepObject(mediaProto.KeepObjectRequest.fromPartial({ id: kept.id, ownerId }));
    const naming = ({ id: mediaId }: mediaProto.StoredObject): { nodesJson: string } => ({
      nodesJson: JSON.stringify([{ id: "m", type: "media-upload", data: { mediaId } }]),
    });
    await workflows.create(ownerId, { ...naming(named), coverJson: JSON.stringify({ image: cover.url }) });
    const { slug } = await workflows.create(ownerId, naming(published));
    await workflows.client.publishVersion(workflowsProto.PublishVersionRequest.fromPartial({ slug, ownerId }));
    await workflows.update(slug, ownerId, { nodesJson: "[]" });
    // An attempt that was cut short left it hidden; it has been named before that.
    await workflows.create(ownerId, naming(hidden));
    await media.hideExpired({ ids: [hidden.id], before: new Date(Date.now() + DAY_MS) });
    // Named between being looked for and being removed.
    let nameLate = async (): Promise<void> => void (await workflows.create(ownerId, naming(late)));
    const findNamedMedia = async (...asked: Parameters<typeof workflows.client.findNamedMedia>) => {
      const found = await workflows.client.findNamedMedia(...asked);
      await nameLate();
      nameLate = () => Promise.resolve();
      return found;
    };
    const nothing = { removed: 0, next: "" };
    const none = (): Promise<number> => Promise.resolve(0);
    const retention = (days: number) =>
      createRetention({
        media,
        workflows: { findNamedMedia, finishAbandoned: workflows.client.finishAbandoned },
        usage: usageClient,
        identity: { pruneAudit: () => Promise.resolve({ pruned: 0 }) },
        billing: { writeCheckpoints: () => Promise.resolve({ written: 0, nextCursor: "" }) },
        store: {
          removeExecutions: () => Promise.resolve(nothing),
          removeRefused: none,
          removeSubmissions: none,
          removePayloads: none,
        },
        logger: createLogger("test", "silent"),
        now: () => new Date(Date.now() + days * DAY_MS),
      })(() => undefined);
    const left = async (): Promise<Set<string>> =>
      new Set((await media.listObjects({ ownerId, limit: 10, cursor: "" })).objects.map(({ id }) => id));

    expect(await retention(89)).toMatchObject({ media: 0 });
    expect(await left()).toEqual(new Set([old, kept, named, cover, published, late].map(({ id }) => id)));
    expect(await retention(91)).toMatchObject({ media: 1 });
    expect(await left()).toEqual(new Set([kept, named, cover, published, late, hidden].map(({ id }) => id)));
  } finally {
    usageClient.close();
    await usage.stop();
    await workflows.stop();
  }
}, 120_000);

describe("an enforcement", () => {
  const page = (removed: number, next = "") => Promise.resolve({ removed, next });
  const rows = (): Promise<number> => Promise.resolve(0);
  const services = {
    media: {
      finishAbandoned: () => Promise.resolve({ finished: 0 }),
      listExpiring: () => Promise.resolve({ objects: [], next: "" }),
      hideExpired: () => Promise.resolve({ ids: [] }),
      restoreExpired: () => Promise.resolve({ restored: 0 }),
      removeExpired: () => Promise.resolve({ removed: 0 }),
    },
    workflows: { finishAbandoned: () => Promise.resolve({ finished: 0 }), findNamedMedia: () => Promise.resolve({ names: [] }) },
    usage: { pruneRows: () => Promise.resolve({ pruned: 0 }) },
    identity: { pruneAudit: () => Promise.resolve({ pruned: 0 }) },
    billing: { writeCheckpoints: () => Promise.resolve({ written: 0, nextCursor: "" }) },
    store: { removeExecutions: () => page(0), removeRefused: rows, removeSubmissions: rows, removePayloads: rows },
    logger: createLogger("test", "silent"),
  };

  it("goes on where an attempt ended that was cut short", async () => {
    const asked: string[] = [];
    const store = {
      ...services.store,
      removeExecutions: (_before: Date, _limit: number, cursor: string) => {
        asked.push(cursor);
        return asked.length < 3 ? page(100, `after ${asked.length}`) : page(7);
      },
    };
    const told: RetentionProgress[] = [];
    const cutShort = createRetention({ ...services, store })((progress) => {
      told.push(progress);
      if (asked.length === 2) throw new Error("the process stops");
    });
    await expect(cutShort).rejects.toThrow("the process stops");
    const report = await createRetention({ ...services, store })(() => undefined, told.at(-1));
    expect(asked).toEqual(["", "after 1", "after 2"]);
    expect(report).toMatchObject({ executions: 7 });
  });

  it("removes the rest where one kind can't be removed, and fails then", async () => {
    let pruned = 0;
    const usage = { pruneRows: () => Promise.reject(new Error("usage is away")) };
    const identity = { pruneAudit: () => Promise.resolve({ pruned: pruned++ === 0 ? 5 : 0 }) };
    await expect(createRetention({ ...services, usage, identity })(() => undefined)).rejects.toThrow("usage is away");
    expect(pruned).toBe(2);
  });

  it("asks each keeper for what is older than the table says, and no sooner", async () => {
    const asked: Record<string, Date> = {};
    const now = new Date("2026-11-22T12:00:00.000Z");
    const note =
      <T>(kind: string, answer: T) =>
      ({ before }: { before?: Date | undefined }): Promise<T> => {
        asked[kind] = before!;
        return Promise.resolve(answer);
      };
    await createRetention({
      ...services,
      media: { ...services.media, listExpiring: note("media", { objects: [], next: "" }) },
      usage: { pruneRows: note("usage", { pruned: 0 }) },
      identity: { pruneAudit: note("audit", { pruned: 0 }) },
      store: {
        removeExecutions: (before) => note("executions", { removed: 0, next: "" })({ before }),
        removeRefused: (before) => note("refused", 0)({ before }),
        removeSubmissions: (before) => note("submissions", 0)({ before }),
        removePayloads: (before) => note("payloads", 0)({ before }),
      },
      executionDays: 365,
      now: () => now,
    })(() => undefined);
    expect(Object.fromEntries(Object.entries(asked).map(([kind, before]) => [kind, before.toISOString()]))).toEqual({
      executions: "2025-11-22T12:00:00.000Z",
      refused: now.toISOString(),
      submissions: "2026-10-23T12:00:00.000Z",
      payloads: now.toISOString(),
      media: "2026-08-24T12:00:00.000Z",
      usage: "2024-10-22T12:00:00.000Z",
      audit: "2024-10-22T12:00:00.000Z",
    });
  });
});
