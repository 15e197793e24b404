import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";
import { loadConfig, processVariables } from "../../src";
import { startCollector } from "../../../../test-support/collector";
import { SERVICE_NAME } from "../support/json-service";

let child: ChildProcess | undefined;
afterEach(() => child?.kill("SIGKILL"));

const startTraced = async (env: NodeJS.ProcessEnv): Promise<{ port: number; end(): Promise<unknown> }> => {
  const support = join(__dirname, "../support");
  const running = spawn(
    process.execPath,
    ["-r", join(support, "../../../../test-support/typescript.cjs"), join(support, "traced-process.ts")],
    {
      env: { ...process.env, LOG_LEVEL: "error", ...env },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    },
  );
  child = running;
  const [{ port }] = (await once(running, "message")) as [{ port: number }];
  return {
    port,
    end: async () => {
      const exited = once(running, "exit");
      running.kill("SIGTERM");
      return (await exited)[0] as unknown;
    },
  };
};

describe("tracing", () => {
  it("links a request, its calls and their servers into the caller's trace, and loses nothing at a stop", async () => {
    const collector = await startCollector();
    const traced = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACES_SHARE: "1" });
    const [trace, caller] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const answer = await fetch(`http://127.0.0.1:${traced.port}/`, { headers: { traceparent: `00-${trace}-${caller}-01` } });
    expect(await answer.text()).toBe("inner");
    expect(await traced.end()).toBe(0);
    collector.stop();

    const spans = collector.spans.filter((span) => span.trace === trace);
    const shape = (parent: string): unknown[] =>
      spans.filter((span) => span.parent === parent).map(({ id, name, kind, service }) => ({ name, kind, service, calls: shape(id) }));
    const service = "traced";
    const call = (name: string, ...calls: unknown[]): object => {
      const span = { name: `${SERVICE_NAME}/${name}`, service };
      return { ...span, kind: "client", calls: [{ ...span, kind: "server", calls }] };
    };
    expect(shape(caller)).toEqual([{ name: "GET", kind: "server", service, calls: [call("Unary", call("Stream"), call("Unary"))] }]);
    expect(spans).toHaveLength(7);
    expect(collector.metrics).toContain("nodeloom.grpc.server.duration");
  });

  it("traces at most its share of the requests, whatever the caller does, and measures all", async () => {
    const collector = await startCollector();
    const traced = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACES_SHARE: "0.5" });
    // Half of all IDs are below it.
    const ask = (trace: string) =>
      fetch(`http://127.0.0.1:${traced.port}/`, { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    const [below, above] = [`0af7651916cd43dd${"0".repeat(15)}1`, `0af7651916cd43dd${"0".repeat(8)}${"f".repeat(8)}`];
    for (const trace of [below, above]) expect(await (await ask(trace)).text()).toBe("inner");
    expect(await traced.end()).toBe(0);
    collector.stop();
    expect(new Set(collector.spans.map(({ trace }) => trace)).size).toBe(1);
    expect(collector.spans).toHaveLength(7);
    expect(collector.metrics).toContain("nodeloom.grpc.server.duration");
  });

  it("traces five of a hundred requests by default", () => {
    expect(loadConfig(z.object(processVariables), {}).TRACES_SHARE).toBe(0.05);
  });

  it("is off without a collector", async () => {
    const traced = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: "" });
    expect(await (await fetch(`http://127.0.0.1:${traced.port}/`)).text()).toBe("inner");
    expect(await traced.end()).toBe(0);
  });
});
