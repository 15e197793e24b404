import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type GrpcObject,
  type ServiceClientConstructor,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";

/** The part of OpenTelemetry's protocol that tests read. */
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
            attributes: { rule: "repeated", type: "Attribute", id: 9 },
            links: { rule: "repeated", type: "Link", id: 13 },
          },
        },
        Link: { fields: { traceId: { type: "bytes", id: 1 } } },
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
  /** Absent for the first span of a trace. */
  parentSpanId?: Buffer;
  name: string;
  kind: number;
  /** Absent if there are none. */
  attributes?: Attribute[];
  links?: { traceId: Buffer }[];
}
interface Attribute {
  key: string;
  value: { text: string } | null;
}
interface ExportRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}
export interface Span {
  trace: string;
  id: string;
  parent: string;
  name: string;
  kind: "server" | "client" | "other";
  service: string | undefined;
  /** IDs of linked traces. */
  links: string[];
  attributes: Record<string, string>;
}

const spansOf = ({ resourceSpans }: ExportRequest): Span[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, kind, attributes, links }) => ({
        trace: traceId.toString("hex"),
        id: spanId.toString("hex"),
        parent: parentSpanId?.toString("hex") ?? "",
        name,
        kind: kind === 2 ? ("server" as const) : kind === 3 ? ("client" as const) : ("other" as const),
        service: resource.attributes.find(({ key }) => key === "service.name")?.value?.text,
        links: (links ?? []).map((link) => link.traceId.toString("hex")),
        attributes: Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, value?.text ?? ""])),
      })),
    ),
  );

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  /** Everything received so far. */
  spans: Span[];
  metrics: string[];
  stop(): void;
}

/** An OpenTelemetry collector that keeps what it receives. */
export const startCollector = async (): Promise<Collector> => {
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
