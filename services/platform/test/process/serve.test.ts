import type { Connection } from "mongoose";
import { createGrpcClient, createLogger, grpcService, serveGrpc, unary } from "../../src";
import { deferred } from "../../../../test-support/deferred";
import { JSON_SERVICE, type JsonServer } from "../support/json-service";

it("ends calls and the service's own work first, then their shared parts, and its database last", async () => {
  const [start, go, drained] = [deferred(), deferred(), deferred()];
  const events: string[] = [];
  const end = (name: string) => () => Promise.resolve(void events.push(name));
  const answer = async (): Promise<string> => {
    start.resolve();
    await go.promise;
    events.push("call");
    return "done";
  };
  const running = await serveGrpc({
    service: grpcService(JSON_SERVICE, { unary: unary(answer) } as unknown as JsonServer),
    config: { JSON_LISTEN: "127.0.0.1:0" } as Parameters<typeof serveGrpc<"JSON_LISTEN">>[0]["config"],
    listen: "JSON_LISTEN",
    connection: { readyState: 1, close: end("database") } as unknown as Connection,
    logger: createLogger("test", "silent"),
    drain: async () => {
      // The running call is still answered.
      go.resolve();
      await drained.promise;
      events.push("own work");
    },
    stop: end("needs"),
  });
  const client = createGrpcClient<JsonServer>(JSON_SERVICE, { address: `127.0.0.1:${running.ports!.JSON_LISTEN}` });
  const call = client.unary({}, { deadlineMs: 60_000 });
  await start.promise;
  const stopped = running.stop();
  expect(await call).toBe("done");
  client.close();
  drained.resolve();
  await stopped;
  expect(events).toEqual(["call", "own work", "needs", "database"]);
});
