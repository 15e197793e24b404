/**
 * The official SDK's client: lists tools, runs a workflow, follows its progress, and cancels a run. The first argument selects the client:
 * `v1` (sessions, revision 2025-11-25) or `v2` (revision 2026-07-28). Prints its results as JSON.
 */
const [which, url, key, film, slow] = process.argv.slice(2);

const HEADERS = { Authorization: `Bearer ${key}` };
const INFO = { name: "peer", version: "1.0.0" };

const open = async () => {
  if (which === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return [new Client(INFO), new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: HEADERS } })];
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  return [client, new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: HEADERS } })];
};

const [client, transport] = await open();
await client.connect(transport);
/** The SDK's two versions take the options at different positions. */
const callTool = (request, options) => (which === "v1" ? client.callTool(request, undefined, options) : client.callTool(request, options));

const { tools } = await client.listTools();
const steps = [];
const onprogress = ({ progress, total, message }) => steps.push({ progress, total, message });
const run = { name: film, arguments: { inputs: { subject: "a heron" }, maxCredits: 100, waitSeconds: 120 } };
const reply = await callTool(run, { onprogress, timeout: 120_000 });

const calling = new AbortController();
const stopped = callTool(
  { name: "run", arguments: { workflow: slow, inputs: {}, maxCredits: 100, waitSeconds: 120 } },
  {
    signal: calling.signal,
    timeout: 120_000,
    onprogress: ({ message }) => {
      if (/submitted/.test(message)) calling.abort();
    },
  },
).then(
  () => "answered",
  () => "called off",
);

const result = {
  server: client.getServerVersion()?.name,
  tools: tools.map(({ name }) => name),
  inputs: Object.keys(tools.find(({ name }) => name === film)?.inputSchema.properties.inputs.properties ?? {}),
  steps,
  status: reply.structuredContent.status,
  contents: reply.content.map(({ type }) => type),
  refused: (await callTool({ name: "get_execution", arguments: { executionId: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11" } })).isError,
  stopped: await stopped,
};
// Closing aborts pending sends, including the cancellation of a call. So the client waits for a later response first.
await client.listTools();
await client.close();
console.log(JSON.stringify(result));
