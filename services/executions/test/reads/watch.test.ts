import { EventEmitter } from "node:events";
import type { executions } from "@nodeloom/proto";
import type { EventChannel } from "../../src/record/runs/channel";
import type { FinalState } from "../../src/run/record";
import type { Stores } from "../../src/record/stores";
import { createWatch } from "../../src/reads/watch";
import { DELIVERED, newRecord, openStore } from "../support";

let stores: Stores;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ stores, stop } = await openStore());
});
afterAll(() => stop());

/** A channel in this process that counts its listeners. */
const localChannel = (): Pick<EventChannel, "publish" | "subscribe"> & { listeners: (id: string) => number } => {
  const emitter = new EventEmitter();
  return {
    publish: (id, event) => void emitter.emit(id, event),
    subscribe: (id, listener) => {
      emitter.on(id, listener);
      return () => void emitter.off(id, listener);
    },
    listeners: (id) => emitter.listenerCount(id),
  };
};
let following = 0;
const texts = {
  follow: () => {
    following += 1;
    return () => void (following -= 1);
  },
};
afterEach(() => expect(following).toBe(0));
const final: FinalState = {
  status: "completed",
  resultJson: "{}",
  error: null,
  nodes: [],
  millicredits: 0,
  grantUsed: false,
  finishedAt: new Date(),
  durationMs: 1,
};
const news = (key: string): { key: string; type: string; at: Date; data: Record<string, unknown> } => ({
  key,
  type: key,
  at: new Date(),
  data: {},
});
const inserted = async (): Promise<string> => {
  const record = newRecord("owner");
  await stores.rows.insert(record);
  return record._id;
};
const all = async (stream: AsyncIterable<executions.WatchExecutionResponse>, each?: (type: string) => Promise<void>): Promise<string[]> => {
  const seenEvents: string[] = [];
  for await (const { sequence, type } of stream) {
    seenEvents.push(`${sequence}:${type}`);
    await each?.(type);
  }
  return seenEvents;
};

it("sends recorded events, then new ones until the end, and stops listening", async () => {
  const [id, channel] = [await inserted(), localChannel()];
  const watch = createWatch(stores, channel, texts, DELIVERED);
  const tell = async (key: string): Promise<void> => {
    await stores.log.append(id, [news(key)]);
    channel.publish(id, { type: key, at: 0, data: {} });
  };
  const seenEvents = await all(watch(id, "owner", 0, new AbortController().signal), async (type) => {
    if (type === "admitted") await tell("submitted");
    if (type === "submitted") {
      await stores.rows.finish(id, final, [news("settled")]);
      channel.publish(id, { type: "settled", at: 0, data: {} });
    }
  });
  expect(seenEvents).toEqual(["1:admitted", "2:submitted", "3:settled"]);
  expect(channel.listeners(id)).toBe(0);
});

it("shows neither texts in progress nor files of a hidden graph", async () => {
  const [record, channel] = [{ ...newRecord("owner"), graphHidden: true as const }, localChannel()];
  const id = record._id;
  await stores.rows.insert(record);
  await stores.log.append(id, [{ ...news("node.completed"), data: { nodeId: "pic", files: [{ url: "https://x.example/a.png" }] } }]);
  const seenEvents: string[] = [];
  for await (const { type, dataJson } of createWatch(stores, channel, texts, DELIVERED)(id, "owner", 1, new AbortController().signal)) {
    seenEvents.push(`${type} ${dataJson}`);
    if (type === "settled") continue;
    channel.publish(id, { type: "node.delta", at: 0, data: { nodeId: "chat", item: 0, text: "a prompt" } });
    channel.publish(id, { type: "node.preview", at: 0, data: { nodeId: "pic", item: 0, percent: 5, image: "data:image/png;base64,YQ==" } });
    await stores.rows.finish(id, final, [news("settled")]);
    channel.publish(id, { type: "settled", at: 0, data: {} });
  }
  expect(seenEvents).toEqual(['node.completed {"nodeId":"pic"}', "settled {}"]);
});

it("shows the reason of a node's failure to users who can read the graph, and no value of it to others", async () => {
  const error = { code: "EXECUTION_FAILED", message: "node web: refused to call db.internal", publicMessage: "node web: its call failed" };
  const { publicMessage, ...whole } = error;
  const errorTexts = async (row: object): Promise<[string, string]> => {
    const record = { ...newRecord("owner"), ...row };
    await stores.rows.insert(record);
    await stores.log.append(record._id, [{ ...news("node.failed"), data: { nodeId: "web", error } }]);
    await stores.rows.finish(record._id, final, [news("settled")]);
    const watch = createWatch(stores, localChannel(), texts, DELIVERED)(record._id, "owner", 1, new AbortController().signal);
    for await (const { dataJson, publicDataJson } of watch) return [dataJson, publicDataJson];
    throw new Error("nothing was told");
  };
  const open = JSON.stringify({ nodeId: "web", error: { code: error.code, message: publicMessage } });
  expect(await errorTexts({})).toEqual([JSON.stringify({ nodeId: "web", error: whole }), open]);
  expect(await errorTexts({ graphHidden: true })).toEqual([open, ""]);
});

it("sends a slow watcher only the newest preview, before the end of its node", async () => {
  const [id, channel] = [await inserted(), localChannel()];
  const seenEvents: string[] = [];
  for await (const { sequence, type, dataJson } of createWatch(stores, channel, texts, DELIVERED)(
    id,
    "owner",
    0,
    new AbortController().signal,
  )) {
    seenEvents.push(type === "node.preview" ? `${sequence}:${dataJson}` : type);
    if (type !== "admitted") continue;
    for (const change of [{ percent: 5, image: "a" }, { percent: 10 }, { image: "b" }])
      channel.publish(id, { type: "node.preview", at: 0, data: { nodeId: "pic", item: 0, ...change } });
    await stores.rows.finish(id, final, [news("settled")]);
    channel.publish(id, { type: "settled", at: 0, data: {} });
  }
  expect(seenEvents).toEqual(["admitted", '0:{"nodeId":"pic","item":0,"percent":10,"image":"b"}', "settled"]);
});

it("starts after the given number", async () => {
  const id = await inserted();
  await stores.log.append(id, [news("submitted")]);
  await stores.rows.finish(id, final, [news("settled")]);
  expect(await all(createWatch(stores, localChannel(), texts, DELIVERED)(id, "owner", 2, new AbortController().signal))).toEqual([
    "3:settled",
  ]);
});

it("reads from the store what the channel missed", async () => {
  const id = await inserted();
  const stream = createWatch(stores, localChannel(), texts, DELIVERED)(id, "owner", 1, new AbortController().signal);
  const seenEvents = all(stream);
  await stores.rows.finish(id, final, [news("settled")]);
  expect(await seenEvents).toEqual(["2:settled"]);
});

it("ends when the watcher disconnects, and leaves no listener", async () => {
  const [id, channel, disconnect] = [await inserted(), localChannel(), new AbortController()];
  const seenEvents = all(createWatch(stores, channel, texts, DELIVERED)(id, "owner", 1, disconnect.signal));
  await stores.rows.find(id);
  disconnect.abort();
  expect(await seenEvents).toEqual([]);
  expect(channel.listeners(id)).toBe(0);
});

it("finds no execution of another user", async () => {
  const [id, channel] = [await inserted(), localChannel()];
  const stream = createWatch(stores, channel, texts, DELIVERED)(id, "someone else", 0, new AbortController().signal);
  await expect(all(stream)).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  expect(channel.listeners(id)).toBe(0);
});

it("sends texts in pieces before the end of their node, and in one piece to a slow watcher", async () => {
  const [id, channel] = [await inserted(), localChannel()];
  const say = (nodeId: string, text: string, reset?: true): void =>
    channel.publish(id, { type: "node.delta", at: 0, data: { nodeId, item: 0, text, reset } });
  const record = async (type: string, nodeId: string): Promise<void> => {
    await stores.log.append(id, [{ key: `${type}:${nodeId}`, type, at: new Date(), data: { nodeId } }]);
    channel.publish(id, { type, at: 0, data: {} });
  };
  const seenEvents: string[] = [];
  for await (const { sequence, type, dataJson } of createWatch(stores, channel, texts, DELIVERED)(
    id,
    "owner",
    0,
    new AbortController().signal,
  )) {
    const { text, reset } = JSON.parse(dataJson) as { text?: string; reset?: true };
    seenEvents.push(`${sequence}:${type}${text === undefined ? "" : ` ${reset ? "=" : "+"}${text}`}`);
    if (type === "admitted") {
      await record("node.started", "a");
      say("a", "On", true);
    } else if (text === "On") {
      say("a", "ce ");
      say("b", "other", true);
      say("a", "upon");
      await record("node.completed", "a");
    } else if (text === "other") {
      say("b", "gone", true);
      say("b", " again", true);
      say("b", "!");
      await stores.rows.finish(id, final, [news("settled")]);
      channel.publish(id, { type: "settled", at: 0, data: {} });
    }
  }
  expect(seenEvents).toEqual([
    "1:admitted",
    "2:node.started",
    "0:node.delta =On",
    "0:node.delta +ce upon",
    "3:node.completed",
    "0:node.delta =other",
    "0:node.delta = again!",
    "4:settled",
  ]);
  expect(channel.listeners(id)).toBe(0);
});
