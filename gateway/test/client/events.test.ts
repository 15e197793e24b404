import { createClient, NodeloomError, type Client, type ExecutionEvent } from "@nodeloom/client";
import { ReadableStream } from "node:stream/web";
import { readEvents } from "../../client/src/server-sent-events";
import { startScripted, type Script, type ScriptedService } from "./server";

const AT = "2026-06-01T00:00:00.000Z";
const text = (id: number, type: string, data: object = {}): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, at: AT, data })}\n\n`;
const stream = (body: string, cut = false): Script => ({
  status: 200,
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  text: `retry: 1000\n\n${body}`,
  cut,
});

let service: ScriptedService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});
const clientOf = async (...script: Script[]): Promise<Client> => {
  service = await startScripted(...script);
  return createClient({ baseUrl: service.baseUrl, apiKey: "nl_test" });
};
const all = async (events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> => {
  const received: ExecutionEvent[] = [];
  for await (const event of events) received.push(event);
  return received;
};

describe("following an execution", () => {
  it("yields its events in order, and ends when it is settled", async () => {
    const body = `${text(1, "admitted")}: still here\n\n${text(2, "settled", { status: "completed" })}${text(3, "never")}`;
    const client = await clientOf(stream(body));
    expect(await all(client.events("e"))).toEqual([
      { id: 1, type: "admitted", at: AT, data: {} },
      { id: 2, type: "settled", at: AT, data: { status: "completed" } },
    ]);
    expect(service!.received).toMatchObject([
      { path: "/api/executions/e/events", headers: { accept: "text/event-stream", "x-api-key": "nl_test" } },
    ]);
    expect(service!.received[0]!.headers).not.toHaveProperty("last-event-id");
  });

  it("resumes after the last received event if the connection breaks or ends", async () => {
    const half = text(3, "node.completed").slice(0, 40);
    const client = await clientOf(
      stream(text(1, "admitted")),
      stream(text(2, "node.started") + half, true),
      "drop",
      stream(text(3, "node.completed") + text(4, "settled")),
    );
    expect((await all(client.events("e"))).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(service!.received.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1", "2", "2"]);
  });

  it("keeps its position during pieces of text, which have none", async () => {
    const delta = `event: node.delta\ndata: ${JSON.stringify({ type: "node.delta", at: AT, data: { text: "On" } })}\n\n`;
    const client = await clientOf(
      stream(text(1, "admitted") + text(2, "node.started") + delta),
      stream(delta, true),
      stream(delta + text(3, "settled")),
    );
    expect((await all(client.events("e"))).map(({ id, type }) => [id, type])).toEqual([
      [1, "admitted"],
      [2, "node.started"],
      [2, "node.delta"],
      [2, "node.delta"],
      [2, "node.delta"],
      [3, "settled"],
    ]);
    expect(service!.received.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "2", "2"]);
  });

  it("starts after a given event, and ends at once if there are no more", async () => {
    const client = await clientOf({ status: 204 });
    expect(await all(client.events("e", { after: 7 }))).toEqual([]);
    expect(service!.received[0]!.headers["last-event-id"]).toBe("7");
  });

  it("throws the service's error, or the reason of an abort", async () => {
    const client = await clientOf({ status: 404, json: { error: "execution not found", code: "EXECUTION_NOT_FOUND" } });
    await expect(all(client.events("e"))).rejects.toMatchObject({ status: 404, code: "EXECUTION_NOT_FOUND" });
    await expect(all(client.events("e"))).rejects.toBeInstanceOf(NodeloomError);
    await service!.stop();
    const endless = await clientOf(stream(text(1, "admitted")));
    await expect(all(endless.events("e", { signal: AbortSignal.timeout(300) }))).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("closes the connection when the reader stops", async () => {
    const client = await clientOf(stream(text(1, "admitted") + text(2, "submitted")));
    for await (const { id } of client.events("e")) if (id === 1) break;
    expect(service!.received).toHaveLength(1);
  });
});

describe("server-sent events", () => {
  const body = ": hello\r\nid: 1\r\nevent: a\r\ndata: ä\r\ndata:b\r\n\r\ndata: x\rid: 2\r\rignored\n\nevent: empty\n\nid: 3\ndata: cut off";

  it.each([1, 2, 3, 7, 1_000])("are parsed from chunks of any size: %d bytes", async (size) => {
    const bytes = new TextEncoder().encode(body);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.slice(index * size, (index + 1) * size));
    const events: object[] = [];
    for await (const event of readEvents(ReadableStream.from(chunks) as unknown as Parameters<typeof readEvents>[0])) events.push(event);
    expect(events).toEqual([
      { id: "1", type: "a", data: "ä\nb" },
      { id: "2", type: "message", data: "x" },
    ]);
  });
});
