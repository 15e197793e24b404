import { createLogger } from "@nodeloom/platform";
import { createRetention, type Owner, type RetentionProgress } from "../../src/maintenance/retention";
import { createOwnRemoval } from "../../src/upkeep/own-removal";

const logger = createLogger("test", "silent");

/** A service with pages of rows that records the cursors it receives. */
const ownerOf = (pages: readonly number[], cursors: string[] = []): Owner => ({
  removeExpired: ({ cursor }) => {
    cursors.push(cursor);
    const index = Number(cursor || "0");
    return Promise.resolve({ removed: { rows: pages[index]! }, nextCursor: index + 1 < pages.length ? String(index + 1) : "" });
  },
});

describe("an enforcement", () => {
  it("calls every owner page by page, and sums up the removed rows", async () => {
    const cursors: string[] = [];
    const owners = { usage: ownerOf([3, 2, 0], cursors), media: ownerOf([1]) };
    expect(await createRetention({ owners, logger })(() => undefined)).toEqual({ usage: { rows: 5 }, media: { rows: 1 } });
    expect(cursors).toEqual(["", "1", "2"]);
  });

  it("continues where an interrupted attempt ended", async () => {
    const cursors: string[] = [];
    const owners = { media: ownerOf([1]), usage: ownerOf([100, 100, 7], cursors) };
    const reported: RetentionProgress[] = [];
    const cutShort = createRetention({ owners, logger })((progress) => {
      reported.push(progress);
      if (cursors.length === 2) throw new Error("the process stops");
    });
    await expect(cutShort).rejects.toThrow("the process stops");
    const report = await createRetention({ owners, logger })(() => undefined, reported.at(-1));
    expect(cursors).toEqual(["", "1", "2"]);
    expect(report).toEqual({ media: {}, usage: { rows: 7 } });
  });

  it("lets the others remove if one owner can't, and fails then", async () => {
    const cursors: string[] = [];
    const owners = { usage: { removeExpired: () => Promise.reject(new Error("usage is away")) }, identity: ownerOf([5, 0], cursors) };
    const reported: RetentionProgress[] = [];
    await expect(createRetention({ owners, logger })((progress) => void reported.push(progress))).rejects.toThrow("usage is away");
    expect(cursors).toEqual(["", "1"]);
    expect(reported.at(-1)).toEqual({ identity: "done" });
  });
});

it("removes executions older than the table states, and no others", async () => {
  const cursorsByKind: Record<string, string> = {};
  const now = new Date("2026-11-22T12:00:00.000Z");
  const note =
    (kind: string) =>
    (before: Date): Promise<number> => {
      cursorsByKind[kind] = before.toISOString();
      return Promise.resolve(0);
    };
  const stores = {
    rows: {
      removeExecutions: async (before: Date) => ({ removed: await note("executions")(before), next: "" }),
      removeRefused: note("refused"),
    },
    submissions: { removeOld: note("submissions") },
    earlierMails: { removeOld: note("mails") },
    payloads: { removeExpired: note("payloads") },
    batches: { removeExpired: async (before: Date) => ({ removed: await note("batches")(before), next: "" }) },
    moderation: {
      removeOld: async ({ rejectedBefore, passedBefore }: { rejectedBefore: Date; passedBefore: Date }) =>
        (await note("refusals")(rejectedBefore)) + (await note("passed")(passedBefore)),
    },
  };
  const own = createOwnRemoval({ stores, pendingOf: async () => new Set(), executionDays: 365, now: () => now });
  const report = await createRetention({ owners: { executions: own }, logger })(() => undefined);
  expect(report).toEqual({
    executions: { executions: 0, batches: 0, refusedRuns: 0, moderation: 0, submissions: 0, payloads: 0, mails: 0 },
  });
  expect(cursorsByKind).toEqual({
    executions: "2025-11-22T12:00:00.000Z",
    batches: "2025-11-22T12:00:00.000Z",
    refused: now.toISOString(),
    refusals: "2024-10-22T12:00:00.000Z",
    passed: "2025-11-22T12:00:00.000Z",
    submissions: "2026-10-23T12:00:00.000Z",
    payloads: now.toISOString(),
    mails: "2026-11-15T12:00:00.000Z",
  });
});
