import { randomUUID } from "node:crypto";
import type { ExecutionRecord, ExecutionView, FinalState } from "../../src/run/record";
import type { ExecutionEvent } from "../../src/run/events";
import { EVENT_PAGE } from "../../src/record/runs/event-log";
import type { Stores } from "../../src/record/stores";
import { fromCursor } from "@nodeloom/platform";
import { collectPage } from "../../src/reads/reads";
import { TIMING } from "../../src/run/timing";
import { newRecord, openStore } from "../support";

let stores: Stores;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ stores, stop } = await openStore());
});
afterAll(() => stop());

const event = (key: string, type = "news"): ExecutionEvent => ({ key, type, at: new Date(), data: { key } });
const inserted = async (part: Partial<ExecutionRecord> = {}): Promise<ExecutionRecord> => {
  const record = newRecord("owner", part);
  await stores.rows.insert(record);
  return record;
};
const final = (status: FinalState["status"]): FinalState => ({
  status,
  resultJson: null,
  error: null,
  nodes: [],
  millicredits: 7,
  grantUsed: false,
  finishedAt: new Date(),
  durationMs: 1,
});

describe("the event log", () => {
  it("counts every item once, however often and in whatever order it is reported", async () => {
    const { _id } = await inserted();
    const items = Array.from({ length: 10 }, (_, item) => item);
    const itemEvents = items.map((item) => ({ ...event(`item:${item}`, "node.progress"), data: { nodeId: "pic", item } }));
    await Promise.all(
      [...itemEvents, ...itemEvents].map((one, at) => stores.log.append(_id, at % 2 === 0 ? [one] : [one, itemEvents[0]!])),
    );
    const log = await stores.log.events(_id, "owner", 0);
    expect(log!.events.map(({ key }) => key).sort()).toEqual(["admitted", ...items.map((item) => `item:${item}`)]);
    expect((await stores.log.current((await stores.rows.find(_id))!)).nodes[0]!.itemsDone).toBe(10);
  });

  it("numbers events without gaps, and returns those after a number", async () => {
    const { _id } = await inserted();
    await Promise.all([1, 2, 3].map((each) => stores.log.append(_id, [event(`e${each}`)])));
    expect((await stores.log.events(_id, "owner", 2))!.events.map(({ sequence }) => sequence)).toEqual([3, 4]);
    expect((await stores.log.events(_id, "owner", 99))!.events).toEqual([]);
  });

  it("is read in pages, each without earlier events", async () => {
    const logged = Array.from({ length: EVENT_PAGE + 3 }, (_, index) => event(`e${index}`));
    const record = newRecord("owner", { events: logged });
    await stores.rows.insert(record);
    const first = (await stores.log.events(record._id, "owner", 0))!;
    expect([first.events.length, first.events.at(-1)!.sequence, first.more]).toEqual([EVENT_PAGE, EVENT_PAGE, true]);
    const rest = (await stores.log.events(record._id, "owner", EVENT_PAGE))!;
    expect(rest.events.map(({ key, sequence }) => [key, sequence])).toEqual(
      [0, 1, 2].map((index) => [`e${EVENT_PAGE + index}`, EVENT_PAGE + index + 1]),
    );
    expect(rest.more).toBe(false);
  });

  it("accepts no more events once the run is final, and can be read only by its owner", async () => {
    const { _id } = await inserted();
    await stores.rows.finish(_id, final("completed"), [event("settled", "settled")]);
    expect(await stores.log.append(_id, [event("late")])).toBeNull();
    expect(await stores.log.events(_id, "someone else", 0)).toBeNull();
  });

  it("includes events that waited when the run's end is decided, once, and accepts no more after that", async () => {
    const { _id } = await inserted();
    const long = Array.from({ length: 20 }, (_, at) => ({ ...event(`long${at}`), data: { text: "x".repeat(1_000) } }));
    await stores.log.append(_id, [event("early")]);
    const last = [event("early"), { ...event("last", "submitted"), data: { requestId: "job" } }, ...long];
    expect(await stores.rows.decideEnding(_id, "completed", last)).toMatchObject({ ending: "completed" });
    expect(await stores.rows.decideEnding(_id, "failed", [event("late")])).toMatchObject({ ending: "completed" });
    expect(await stores.log.append(_id, [event("late")])).toBeNull();
    const { events } = (await stores.log.events(_id, "owner", 0))!;
    expect(events.map(({ key }) => key)).toEqual(["admitted", "early", "last", ...long.map(({ key }) => key)]);
    expect((await stores.rows.find(_id))!.requestId).toBe("job");
  });
});

describe("the end of a run", () => {
  it("is exactly one of the two if a cancellation races the decision, and both sides get it", async () => {
    const races = await Promise.all(Array.from({ length: 20 }, () => inserted()));
    const outcomes = await Promise.all(
      races.map(async ({ _id }) => {
        const [decided, accepted] = await Promise.all([
          stores.rows.decideEnding(_id, "completed").then(({ ending }) => ending),
          stores.rows.requestCancel(_id, "owner", event("cancel_requested")),
        ]);
        return { _id, decided, accepted };
      }),
    );
    for (const { _id, decided, accepted } of outcomes) {
      expect(decided).toBe(accepted !== null ? "cancelled" : "completed");
      expect((await stores.rows.find(_id))!.ending).toBe(decided);
    }
  });

  it("is decided once: every later decision returns the first", async () => {
    const { _id } = await inserted();
    const decided = await Promise.all(
      (["completed", "failed", "cancelled"] as const).map(async (ending) => (await stores.rows.decideEnding(_id, ending)).ending),
    );
    expect(new Set(decided).size).toBe(1);
    expect(await stores.rows.decideEnding(_id, "failed")).toMatchObject({ ending: decided[0] });
  });

  it("rejects a cancellation after the decision, and one by another user", async () => {
    const { _id } = await inserted();
    expect(await stores.rows.requestCancel(_id, "someone else", event("cancel_requested"))).toBeNull();
    await stores.rows.decideEnding(_id, "failed");
    expect(await stores.rows.requestCancel(_id, "owner", event("cancel_requested"))).toBeNull();
    expect((await stores.rows.find(_id))!.status).toBe("processing");
  });

  it("is written once if it is reported several times", async () => {
    const { _id } = await inserted({ status: "cancel_requested" });
    const finishes = await Promise.all([1, 2, 3].map(() => stores.rows.finish(_id, final("cancelled"), [event("settled", "settled")])));
    expect(finishes.filter((record) => record !== null)).toHaveLength(1);
    expect((await stores.log.events(_id, "owner", 0))!.events.map(({ type }) => type)).toEqual(["admitted", "settled"]);
    expect(await stores.rows.insert(newRecord("owner", { _id }))).toBe(false);
    expect((await stores.rows.find(_id))!.millicredits).toBe(7);
  });
});

describe("submissions without idempotency keys", () => {
  it("are claimed by one of many, and remembered", async () => {
    const claims = await Promise.all(Array.from({ length: 10 }, () => stores.submissions.claim("run:node:0", "another")));
    expect(claims.filter((claim) => claim.isNew)).toHaveLength(1);
    await stores.submissions.record("run:node:0", "job-1", { status: "https://p/1" });
    expect(await stores.submissions.claim("run:node:0", "another")).toMatchObject({
      isNew: false,
      requestId: "job-1",
      handle: { status: "https://p/1" },
    });
    await stores.submissions.release("run:node:0");
    expect((await stores.submissions.claim("run:node:0", "another")).isNew).toBe(false);
  });

  it("count as lost at once if their outcome can't become known, and aren't claimed again", async () => {
    await stores.submissions.claim("run:node:2", "another");
    await stores.submissions.lose("run:node:2");
    const claim = await stores.submissions.claim("run:node:2", "another");
    expect(claim).toMatchObject({ isNew: false, requestId: null });
    expect(Date.now() - (claim as { at: Date }).at.getTime()).toBeGreaterThanOrEqual(TIMING.submitLost);
  });

  it("can be claimed again after they certainly were not sent", async () => {
    await stores.submissions.claim("run:node:1", "another");
    await stores.submissions.release("run:node:1");
    expect((await stores.submissions.claim("run:node:1", "another")).isNew).toBe(true);
  });
});

describe("a page of executions", () => {
  async function* told(rows: AsyncIterable<ExecutionView>): AsyncIterable<ExecutionView> {
    for await (const row of rows) yield stores.log.whole(row);
  }
  const pages = async (
    userId: string | null,
    size: number,
    { maxBytes, ...times }: { maxBytes?: number; createdAfter?: Date; createdBefore?: Date } = {},
  ): Promise<string[][]> => {
    const foundPages: string[][] = [];
    let cursor = "";
    do {
      const page = await collectPage(
        told(stores.rows.list({ userId, ...times, limit: size + 1, before: fromCursor(cursor) })),
        size,
        maxBytes,
      );
      foundPages.push(page.executions.map(({ executionId }) => executionId));
      cursor = page.nextCursor;
    } while (cursor !== "");
    return foundPages;
  };

  it("starts where the one before ended, without a gap or a repeat, newest first, also within a millisecond", async () => {
    const createdAt = new Date();
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await inserted({ userId: "lister", createdAt }))._id));
    const foundPages = await pages("lister", 2);
    expect(foundPages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(foundPages.flat()).toEqual([...ids].sort().reverse());
  });

  it("covers a range of times, including the first", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) ids.unshift((await inserted({ userId: "dated", createdAt: new Date(at) }))._id);
    const times = { createdAfter: new Date(1), createdBefore: new Date(5) };
    expect(await pages("dated", 3, times)).toEqual([ids.slice(1, 4), ids.slice(4, 5)]);
    expect(await pages("dated", 9, { createdAfter: new Date(4) })).toEqual([ids.slice(0, 2)]);
    expect(await pages("dated", 9, { createdBefore: new Date(2) })).toEqual([ids.slice(4)]);
  });

  it("ends early if results are large, and has at least one", async () => {
    const resultJson = JSON.stringify({ text: "x".repeat(1_000_000) });
    const ids: string[] = [];
    for (let at = 0; at < 12; at += 1) ids.unshift((await inserted({ userId: "writer", createdAt: new Date(at), resultJson }))._id);
    const foundPages = await pages("writer", 500);
    expect(foundPages.map(({ length }) => length)).toEqual([8, 4]);
    expect(foundPages.flat()).toEqual(ids);
    expect((await pages("writer", 500, { maxBytes: 1 })).map(({ length }) => length)).toEqual(ids.map(() => 1));
  });
});

describe("calls and pending work of many runs", () => {
  it("are each recorded as if alone, even if one can't be", async () => {
    const ids = Array.from({ length: 20 }, () => randomUUID());
    const callOf = (executionId: string) => ({ key: `${executionId}:n:0`, executionId, nodeId: "n", item: 0 });
    await Promise.all(ids.map((id) => stores.calls.submitted(callOf(id), "send")));
    const failing = stores.calls.submitted({ ...callOf(ids[0]!), key: { $bad: 1 } as never }, "send");
    const endings = ids.map((id) =>
      stores.calls.recordEnd({ ...callOf(id), _id: callOf(id).key, status: "completed", costMicroUsd: 1, requestId: null }),
    );
    await expect(failing).rejects.toThrow();
    await Promise.all(endings);
    const callLists = await Promise.all(ids.map((id) => stores.calls.of(id)));
    expect(callLists.map((calls) => calls.map(({ status, sends }) => [status, sends]))).toEqual(ids.map(() => [["completed", ["send"]]]));
  });

  it("are measured by model: those that were sent, the newest of the last day", async () => {
    const [model, executionId] = [`m-${randomUUID()}`, randomUUID()];
    const callOf = (item: number) => ({ key: `${executionId}:n:${item}`, executionId, nodeId: "n", item, model });
    const call = { executionId, nodeId: "n", costMicroUsd: 1, requestId: null };
    await stores.calls.submitted(callOf(0), "send");
    await stores.calls.recordEnd({ ...call, _id: callOf(0).key, item: 0, status: "completed" });
    await stores.calls.submitted(callOf(1), "send");
    await stores.calls.recordEnd({ ...call, _id: callOf(1).key, item: 1, status: "failed", error: { code: "EXECUTION_FAILED", message: "no", fault: "provider" } }); // prettier-ignore
    await stores.calls.submitted(callOf(2), "send");
    await stores.calls.recordEnd({ ...call, _id: callOf(3).key, item: 3, status: "completed" });
    const recent = await stores.callStatistics.recent(model, Date.now());
    expect(recent.map(({ status, error }) => [status, error?.fault])).toEqual([
      ["failed", "provider"],
      ["completed", undefined],
    ]);
    for (const { sentAt, endedAt } of recent) expect(endedAt!.getTime()).toBeGreaterThanOrEqual(sentAt!.getTime());
    expect(await stores.callStatistics.recent(model, Date.now() + 86_400_001)).toEqual([]);
  });

  it("keep a completed call unchanged, whatever later reports say", async () => {
    const executionId = randomUUID();
    const call = { _id: `${executionId}:n:0`, executionId, nodeId: "n", item: 0, costMicroUsd: 5, requestId: null };
    await stores.calls.recordEnd({ ...call, status: "completed" });
    await Promise.all(Array.from({ length: 5 }, () => stores.calls.recordEnd({ ...call, costMicroUsd: 0, status: "failed" })));
    expect(await stores.calls.of(executionId)).toMatchObject([{ status: "completed", costMicroUsd: 5 }]);
  });

  it("are cleared together, except for a row that has changed", async () => {
    const rows = await Promise.all(
      Array.from({ length: 5 }, () => inserted({ status: "completed", attempt: 1, outbox: ["usage"], unsettled: true })),
    );
    const moved = await inserted({ status: "completed", attempt: 1, outbox: ["usage", "webhook"], unsettled: true });
    const pendingRow = { _id: moved._id, status: "completed", attempt: 1, outbox: ["usage"] } as const;
    await Promise.all([
      ...rows.map((row) => stores.rows.clear(row, ["usage"])),
      stores.rows.clear({ ...pendingRow, outbox: ["usage"] }, ["usage"]),
    ]);
    for (const { _id } of rows) expect(await stores.rows.find(_id)).toMatchObject({ outbox: [] });
    expect((await stores.rows.find(rows[0]!._id))!.unsettled).toBeUndefined();
    expect(await stores.rows.find(moved._id)).toMatchObject({ outbox: ["usage", "webhook"], unsettled: true });
  });
});
