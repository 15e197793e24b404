import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { clientOf, eventually, paced, type Account, type Answer } from "../../../test-support/client";
import { edge, node } from "../../../test-support/graphs";
import { APART, startPlatform, type Platform } from "../../../test-support/platform";
import { withTemporal } from "./support/temporal";
import { exported, metricsIn, queries } from "../../../deploy/helm/test/queries";
import { makeCertificates, type TestCertificates } from "../../../test-support/certificates";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { startCollector, type Collector, type Span } from "../../../test-support/collector";

/** A platform from an operator's view: one trace per run from the gateway's route to the provider, and the metrics of its processes. */

let collector: Collector;
let certificates: TestCertificates;
let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let receiver: Recorder;
/** Trace ID of each run. */
const traces: Record<string, string> = {};
const metrics: string[] = [];

const GRAPH = (sandbox: object, url: string) => ({
  name: "Traced",
  nodes: [
    node("fetch", "http-request", { method: "GET", url }),
    node("clip", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, prompt: "a loom", sandbox } }),
    node("out", "response-output"),
  ],
  edges: [edge("fetch.status", "out.status"), edge("clip.video", "out.videos")],
});

beforeAll(async () => {
  receiver = await startRecorder((response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  collector = await startCollector();
  certificates = await makeCertificates("media");
  const { TLS_CERT_FILE, TLS_KEY_FILE } = certificates.of("media");
  platform = await startPlatform({
    groups: APART,
    allow: [receiver.address],
    measured: true,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "500",
      TRACES_SHARE: "1",
      TEMPORAL_PAYLOAD_KEYS: randomBytes(32).toString("hex"),
      PROVENANCE_CERTIFICATE: await readFile(TLS_CERT_FILE, "utf8"),
      PROVENANCE_KEY: await readFile(TLS_KEY_FILE, "utf8"),
    },
  });
  client = clientOf(platform);
  user = await client.account({ tier: "enterprise", webhook: { url: `${receiver.url}/hook` } });

  const send = (path: string, name: string, body: object): Promise<Answer> => {
    traces[name] = randomBytes(16).toString("hex");
    const headers = { traceparent: `00-${traces[name]}-b7ad6b7169203331-01` };
    return client.call("POST", path, { key: user.key!, body, headers });
  };
  const save = async (sandbox: object): Promise<string> => {
    const { body } = await client.call("POST", "/api/workflows", { key: user.key!, body: GRAPH(sandbox, `${receiver.url}/fetched`) });
    return `/api/workflows/${String(body.slug)}/run`;
  };
  const endedRun = (answer: Answer, status: string): Promise<Answer> =>
    eventually(
      () => client.call("GET", `/api/executions/${String(answer.body.executionId)}`, { key: user.key! }),
      ({ body }) => body.status === status,
      90_000,
    );
  const scrape = async (): Promise<string[]> => {
    const answers = Object.values(platform.processes).map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text());
    const scraped = await Promise.all(answers);
    metrics.push(...scraped);
    return scraped;
  };
  /** Spans are exported twice a second here. A killed process loses the spans since then. */
  const submitted = (name: string): Promise<unknown> => {
    const hasSent = (isIt: (span: Span) => boolean): boolean => collector.spans.some((span) => span.trace === traces[name] && isIt(span));
    const isSent = (): boolean =>
      hasSent((span) => span.name === "RunActivity:submit") &&
      hasSent((span) => span.kind === "server" && span.name.endsWith("ExecutionsService/Run"));
    return eventually(isSent);
  };
  const [quick, endless, failing] = [
    await save({ latencyMs: 100 }),
    await save({ fail: "hang" }),
    await save({ fail: "job", latencyMs: 1_500 }),
  ];

  expect((await send(quick, "sync", { inputs: {} })).status).toBe(200);
  await endedRun(await send(`${quick}?async=true`, "async", { inputs: {} }), "completed");

  await endedRun(await send(`${failing}?async=true`, "failed", { inputs: {} }), "failed");

  const cancelled = await send(`${endless}?async=true`, "cancelled", { inputs: {} });
  await submitted("cancelled");
  await client.call("POST", `/api/executions/${String(cancelled.body.executionId)}/cancel`, { key: user.key! });
  await endedRun(cancelled, "cancelled");

  await paced(
    async (seconds) => {
      const slow = await save({ latencyMs: seconds * 1_000 });
      const sentAt = Date.now();
      const killed = await send(`${slow}?async=true`, "killed", { inputs: {} });
      await submitted("killed");
      // Reads the metrics first, because the killed process loses its counts.
      await scrape();
      await platform.processes.executions!.kill();
      const wasUnderWay = Date.now() < sentAt + seconds * 1_000;
      await platform.processes.executions!.start();
      await endedRun(killed, "completed");
      return wasUnderWay;
    },
    [4, 20, 60],
  );
  await eventually(() => receiver.requests.filter(({ path }) => path === "/hook").length >= 4);
  await withTemporal(async ({ schedule }) => {
    for (const name of ["retention", "ledger-check"]) await schedule.getHandle(`${platform.env.TEMPORAL_TASK_QUEUE!}-${name}`).trigger();
  });
  for (const name of ["nodeloom_retention_passed", "nodeloom_ledger_checked"])
    await eventually(scrape, (scraped) => scraped.some((text) => text.includes(name)), 60_000);
  // Stopping exports the remaining spans.
  await platform.stop();
}, 400_000);
afterAll(async () => {
  await platform?.stop();
  await certificates?.remove();
  collector?.stop();
  await receiver?.close();
});

const CALLER = "b7ad6b7169203331";
const spansOf = (name: string): Span[] => collector.spans.filter(({ trace }) => trace === traces[name]);

/** Span names with their children. */
interface Tree {
  [name: string]: Tree;
}
const nameOf = ({ kind, name }: Span): string => {
  const short = name.replace(/127\.0\.0\.1:\d+/, "<provider>").replace(/^nodeloom\.\w+\.v1\./, "");
  return kind === "other" ? short : `${kind} ${short}`;
};
/** Look-ups that a process skips if it has cached the result. */
const LOOK_UP = /IdentityService\/AuthenticateKey|ModelsService\/GetModel/;

/** Tree below some spans. Spans with the same name are merged, because the number of polls and attempts depends on time. */
const treeOf = (spans: readonly Span[], parents = [CALLER]): Tree => {
  const children = spans.filter(({ parent, name }) => parents.includes(parent) && !LOOK_UP.test(name));
  const spansNamed = (name: string): string[] => children.filter((span) => nameOf(span) === name).map(({ id }) => id);
  return Object.fromEntries(children.map(nameOf).map((name) => [name, treeOf(spans, spansNamed(name))]));
};

const rpc = (method: string, within: Tree = {}): Tree => ({ [`client ${method}`]: { [`server ${method}`]: within } });
const activity = (name: string, within: Tree = {}): Tree => ({ [`RunActivity:${name}`]: within });
const provider = (method: string): Tree => ({ [`client ${method} <provider>`]: { [`server ${method}`]: {} } });

/**
 * @param calls spans of the provider's job
 * @param isAsync true if the usage row starts with the 202, and a webhook reports the end
 */
const runTree = (calls: Tree, isAsync = true): Tree => {
  const run = {
    ...activity("claim"),
    ...activity("httpRequest"),
    ...activity("submit", provider("POST")),
    ...calls,
    ...activity("settle", {
      ...rpc("BillingService/Settle"),
      ...rpc("UsageService/FinishRun"),
      ...(isAsync ? rpc("NotificationsService/Send") : {}),
    }),
  };
  const serverCalls = {
    ...rpc("WorkflowsService/GetDefinition"),
    ...rpc("BillingService/Hold"),
    ...(isAsync ? rpc("UsageService/StartRun") : {}),
    "client StartWorkflow:executeGraph": run,
  };
  // The response of a synchronous run has addresses of its files.
  const signed = isAsync ? {} : rpc("MediaService/SignUrls");
  return { "server POST /api/workflows/:slug/run": { ...rpc("ExecutionsService/Run", serverCalls), ...signed } };
};
const COMPLETED = activity("poll", { ...provider("GET"), ...rpc("MediaService/Ingest") });

it.each(["sync", "async", "failed", "cancelled", "killed"])("%s is one trace, and every span in it has its parent", (name) => {
  const spans = spansOf(name);
  const ids = new Set([CALLER, ...spans.map(({ id }) => id)]);
  // Services that the killed process called have exported part of a request. The other part is lost.
  const isOfLost = ({ service }: Span): boolean => name === "killed" && service?.includes("sandbox") === true;
  const orphans = spans.filter((span) => !ids.has(span.parent) && !isOfLost(span));
  expect(orphans.map((span) => `${span.service} ${span.name}`)).toEqual([]);
  expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
});

it.each([
  { name: "sync", tree: runTree(COMPLETED, false) },
  { name: "async", tree: runTree(COMPLETED) },
  { name: "failed", tree: runTree(activity("poll", provider("GET"))) },
  {
    name: "cancelled",
    tree: runTree({
      ...activity("poll", expect.any(Object) as Tree),
      ...activity("cancelJob", { ...provider("GET"), ...provider("POST") }),
    }),
  },
])("$name is this tree, from the gateway's route through Temporal to the provider and to billing", ({ name, tree }) => {
  expect(treeOf(spansOf(name))).toEqual(tree);
});

it("continues on another worker if one is killed, to the provider and to billing", () => {
  expect(treeOf(spansOf("killed"))).toEqual(runTree(COMPLETED));
});

it("sends the trace to the provider whose entry allows this, and to no server of users", () => {
  expect(spansOf("async").filter(({ service, kind }) => service?.includes("sandbox") && kind === "server")).not.toEqual([]);
  expect(receiver.requests.map(({ path }) => path)).toEqual(expect.arrayContaining(["/fetched", "/hook"]));
  expect(receiver.requests.filter(({ headers }) => headers.traceparent !== undefined)).toEqual([]);
});

it("delivers webhooks in separate traces, which link to the run's", () => {
  const deliveries = collector.spans.filter(({ name }) => name === "webhook delivery");
  expect(deliveries.flatMap(({ links }) => links)).toEqual(expect.arrayContaining([traces.async, traces.cancelled, traces.killed]));
  const [{ trace }] = deliveries as [Span];
  const delivered = {
    ...activity("sendWebhook", {
      ...rpc("IdentityService/GetWebhookTarget"),
      ...rpc("ExecutionsService/GetWebhookMessage", rpc("MediaService/SignUrls")),
    }),
    ...activity("recordAttempt", rpc("IdentityService/ReportDelivery")),
  };
  expect(
    treeOf(
      collector.spans.filter((span) => span.trace === trace),
      [""],
    ),
  ).toEqual({ "webhook delivery": { "client StartWorkflow:deliverWebhook": delivered } });
});

it("measures the metrics that the chart's alerts and dashboards query, with the labels that they use", () => {
  const metricNames = exported(metrics);
  const usedMetrics = queries.flatMap(metricsIn);
  expect(usedMetrics.length).toBeGreaterThan(30);
  const missing = usedMetrics.flatMap(({ name, labels }) =>
    labels.filter((label) => metricNames.get(name)?.has(label) !== true).map((label) => `${name}{${label}}`),
  );
  expect([...usedMetrics.filter(({ name }) => !metricNames.has(name)).map(({ name }) => name), ...missing]).toEqual([]);
});
