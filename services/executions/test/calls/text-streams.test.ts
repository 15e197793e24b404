import { EventEmitter } from "node:events";
import type { ChannelEvent, EventChannel } from "../../src/record/runs/channel";
import { createTextStreams, type TextStreams } from "../../src/calls/text-streams";
import { TIMING } from "../../src/run/timing";

const ID = "execution";
const CALL = { executionId: ID, nodeId: "writer", item: 0 };
let published: { id: string; event: ChannelEvent }[];
let channel: Pick<EventChannel, "publish" | "subscribe"> & { listeners: (id: string) => number };
let streams: TextStreams;
let stop: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  published = [];
  const emitter = new EventEmitter();
  channel = {
    publish: (id, event) => {
      published.push({ id, event });
      emitter.emit(id, event);
    },
    subscribe: (id, listener) => {
      emitter.on(id, listener);
      return () => void emitter.off(id, listener);
    },
    listeners: (id) => emitter.listenerCount(id),
  };
  streams = createTextStreams(channel);
  stop = streams.stop;
});
afterEach(() => {
  stop();
  expect(channel.listeners("followed-texts")).toBe(0);
  jest.useRealTimers();
});

/** The follower's text after each message. */
const toldTexts = (): string[] => {
  let text = "";
  return published.flatMap(({ id, event: { type, data } }) => {
    if (id !== ID) return [];
    expect([type, data.nodeId, data.item]).toEqual(["node.delta", "writer", 0]);
    text = (data.reset ? "" : text) + String(data.text);
    return [text];
  });
};

it("sends nothing and sets no timer without a follower", () => {
  const stream = streams.open(CALL);
  stream.restart();
  for (let index = 0; index < 1_000; index += 1) stream.write("piece ");
  expect(jest.getTimerCount()).toBe(0);
  stream.close();
  expect(published).toEqual([]);
});

it("collects pieces for a moment, or until there are many", () => {
  const unfollow = streams.follow(ID);
  const stream = streams.open(CALL);
  stream.restart();
  stream.write("a");
  stream.write("b");
  expect(toldTexts()).toEqual([]);
  jest.advanceTimersByTime(TIMING.textBatch);
  expect(toldTexts()).toEqual(["ab"]);
  stream.write("c".repeat(200));
  expect(toldTexts()).toHaveLength(2);
  stream.write("d");
  stream.close();
  expect(toldTexts().at(-1)).toBe(`ab${"c".repeat(200)}d`);
  unfollow();
  expect(jest.getTimerCount()).toBe(0);
});

it("sends the whole text to a late follower", () => {
  const stream = streams.open(CALL);
  stream.restart();
  stream.write("Once upon ");
  const unfollow = streams.follow(ID);
  expect(toldTexts()).toEqual(["Once upon "]);
  stream.write("a time");
  const second = streams.follow(ID);
  stream.close();
  expect(toldTexts().at(-1)).toBe("Once upon a time");
  unfollow();
  second();
});

it("reports a restarted text", () => {
  const unfollow = streams.follow(ID);
  const stream = streams.open(CALL);
  stream.restart();
  stream.write("first try");
  jest.advanceTimersByTime(TIMING.textBatch);
  stream.restart();
  expect(toldTexts()).toEqual(["first try", ""]);
  stream.write("second");
  stream.close();
  expect(toldTexts().at(-1)).toBe("second");
  unfollow();
});

it("continues while it has a follower, and for a short time after", () => {
  const unfollow = streams.follow(ID);
  jest.advanceTimersByTime(10 * TIMING.textForgotten);
  const stream = streams.open(CALL);
  stream.write("heard");
  jest.advanceTimersByTime(TIMING.textBatch);
  expect(toldTexts()).toEqual(["heard"]);
  unfollow();
  jest.advanceTimersByTime(TIMING.textForgotten + 1);
  stream.write("unheard");
  stream.close();
  expect(toldTexts()).toEqual(["heard"]);
});

it("streams at most as much of a text as a run can have", () => {
  const unfollow = streams.follow(ID);
  const stream = streams.open(CALL);
  for (let index = 0; index < 300; index += 1) stream.write("x".repeat(1_024));
  stream.close();
  expect(toldTexts().at(-1)).toHaveLength(256 * 1_024);
  unfollow();
});

it("keeps nothing of finished texts", () => {
  const unfollow = streams.follow(ID);
  const stream = streams.open(CALL);
  stream.write("over");
  stream.close();
  published = [];
  const late = streams.follow(ID);
  expect(toldTexts()).toEqual([]);
  unfollow();
  late();
});

describe("previews of an unfinished output", () => {
  const image = (name: string) => ({ contentType: "image/png" as const, bytes: Buffer.from(name) });
  const previews = (): unknown[] =>
    published.flatMap(({ id, event: { type, data } }) => (id === ID && type === "node.preview" ? [{ ...data, nodeId: undefined }] : []));

  it("are sent at most once a second, always the newest, and only to followers", () => {
    const preview = streams.openPreview(CALL);
    preview.write({ percent: 5 });
    expect([published, jest.getTimerCount()]).toEqual([[], 0]);
    const unfollow = streams.follow(ID);
    preview.write({ percent: 10, image: image("a") });
    for (let percent = 11; percent < 50; percent += 1) preview.write({ percent, image: image(`b${percent}`) });
    preview.write({ percent: 50 });
    expect(previews()).toEqual([{ item: 0, percent: 5 }]);
    jest.advanceTimersByTime(TIMING.previewEvery);
    expect(previews().slice(1)).toEqual([
      { item: 0, percent: 50, image: `data:image/png;base64,${Buffer.from("b49").toString("base64")}` },
    ]);
    // Nothing has changed since.
    jest.advanceTimersByTime(3 * TIMING.previewEvery);
    expect(previews()).toHaveLength(2);
    preview.close();
    unfollow();
    expect(jest.getTimerCount()).toBe(0);
  });

  it("are sent whole to a late follower, and no more after the call", () => {
    const preview = streams.openPreview(CALL);
    preview.write({ percent: 30 });
    preview.write({ image: image("a") });
    const unfollow = streams.follow(ID);
    expect(previews()).toEqual([{ item: 0, percent: 30, image: "data:image/png;base64,YQ==" }]);
    preview.close();
    streams.follow(ID)();
    expect(previews()).toHaveLength(1);
    unfollow();
  });
});
