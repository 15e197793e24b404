import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type GrpcObject,
  type ServiceClientConstructor,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { SERVICE_NAME } from "../support/json-service";

/** What of OpenTelemetry's protocol the test looks at. */
const OTLP = {
  nested: {
    otlp: {
      nested: {
        Span: {
          fields: {
            traceId: { type: "bytes", id: 1 },
            spanId: { type: "bytes", id: 2 },
            parentSpanId: { type: "bytes", id: 4 },
            name: { type: "string", id: 5 },
            kind: { type: "int32", id: 6 },
          },
        },
        ScopeSpans: { fields: { spans: { rule: "repeated", type: "Span", id: 2 } } },
        Text: { fields: { text: { type: "string", id: 1 } } },
        Attribute: { fields: { key: { type: "string", id: 1 }, value: { type: "Text", id: 2 } } },
        Resource: { fields: { attributes: { rule: "repeated", type: "Attribute", id: 1 } } },
        ResourceSpans: { fields: { resource: { type: "Resource", id: 1 }, scopeSpans: { rule: "repeated", type: "ScopeSpans", id: 2 } } },
        ExportRequest: { fields: { resourceSpans: { rule: "repeated", type: "ResourceSpans", id: 1 } } },
        ExportResponse: { fields: {} },
        Metric: { fields: { name: { type: "string", id: 1 } } },
        ScopeMetrics: { fields: { metrics: { rule: "repeated", type: "Metric", id: 2 } } },
        ResourceMetrics: {
          fields: { resource: { type: "Resource", id: 1 }, scopeMetrics: { rule: "repeated", type: "ScopeMetrics", id: 2 } },
        },
        MetricsRequest: { fields: { resourceMetrics: { rule: "repeated", type: "ResourceMetrics", id: 1 } } },
        MetricsService: { methods: { Export: { requestType: "MetricsRequest", responseType: "ExportResponse" } } },
        TraceService: { methods: { Export: { requestType: "ExportRequest", responseType: "ExportResponse" } } },
      },
    },
  },
};
const METRICS_PATH = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
interface MetricsRequest {
  resourceMetrics: { scopeMetrics: { metrics: { name: string }[] }[] }[];
}
const EXPORT_PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

interface WireSpan {
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId: Buffer;
  name: string;
  kind: number;
}
interface ExportRequest {
  resourceSpans: { resource: { attributes: { key: string; value: { text: string } }[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}
interface Span {
  trace: string;
  id: string;
  parent: string;
  name: string;
  kind: "server" | "client" | "other";
  service: string | undefined;
}

const spansOf = ({ resourceSpans }: ExportRequest): Span[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, kind }) => ({
        trace: traceId.toString("hex"),
        id: spanId.toString("hex"),
        parent: parentSpanId.toString("hex"),
        name,
        kind: kind === 2 ? ("server" as const) : kind === 3 ? ("client" as const) : ("other" as const),
        service: resource.attributes.find(({ key }) => key === "service.name")?.value.text,
      })),
    ),
  );

const startCollector = async (): Promise<{ url: string; spans: Span[]; metrics: string[]; stop(): void }> => {
  const otlp = loadPackageDefinition(fromJSON(OTLP as never)).otlp as GrpcObject;
  const { Export } = (otlp.TraceService as ServiceClientConstructor).service;
  const exportMetrics = (otlp.MetricsService as ServiceClientConstructor).service.Export!;
  const spans: Span[] = [];
  const metrics: string[] = [];
  const server = new Server();
  server.addService({ Export: { ...exportMetrics, path: METRICS_PATH } }, {
    Export: ({ request }: { request: MetricsRequest }, callback: (error: null, response: object) => void) => {
      const scopes = request.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics);
      metrics.push(...scopes.flatMap((scope) => scope.metrics.map(({ name }) => name)));
      callback(null, {});
    },
  } as unknown as UntypedServiceImplementation);
  server.addService({ Export: { ...Export!, path: EXPORT_PATH } }, {
    Export: (call: { request: ExportRequest }, callback: (error: null, response: object) => void) => {
      spans.push(...spansOf(call.request));
      callback(null, {});
    },
  } as unknown as UntypedServiceImplementation);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return { url: `http://127.0.0.1:${port}`, spans, metrics, stop: () => server.forceShutdown() };
};

let child: ChildProcess | undefined;
afterEach(() => child?.kill("SIGKILL"));

const startTraced = async (env: NodeJS.ProcessEnv): Promise<{ port: number; end(): Promise<unknown> }> => {
  const support = join(__dirname, "../support");
  const running = spawn(process.execPath, ["-r", join(support, "run-typescript.cjs"), join(support, "traced-process.ts")], {
    env: { ...process.env, LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
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
  it("links a request, the calls it becomes and their servers into the caller's trace, and loses nothing at a stop", async () => {
    const collector = await startCollector();
    const traced = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
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

  it("is off without a collector", async () => {
    const traced = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: "" });
    expect(await (await fetch(`http://127.0.0.1:${traced.port}/`)).text()).toBe("inner");
    expect(await traced.end()).toBe(0);
  });
});
