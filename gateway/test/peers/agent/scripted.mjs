/**
 * An agent that uses only information from tools. It builds a pipeline from a description, prices it, runs it and shows the result. Its
 * decisions are scripted, but each uses the answers before it. Prints the tools that it used, and its final answer.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, key] = process.argv.slice(2);

const client = new Client({ name: "agent", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }));

/** The request as nodes: two styles of one subject. */
const graph = {
  name: "Two postcards",
  nodes: [
    { id: "in", type: "request-input", data: { fields: [{ name: "subject", type: "text", label: "Subject", required: true }] } },
    { id: "styles", type: "list", data: { items: ["woodcut", "watercolour"] } },
    { id: "idea", type: "text-box", data: { text: "{{subject}}, as a {{style}}" } },
    { id: "picture", type: "generate-image", data: { model: "no-such-model" } },
    { id: "out", type: "response-output", data: {} },
  ],
  edges: [
    { source: "in", sourceHandle: "subject", target: "idea", targetHandle: "subject" },
    { source: "styles", sourceHandle: "items", target: "idea", targetHandle: "style" },
    { source: "idea", sourceHandle: "text", target: "picture", targetHandle: "prompt" },
    { source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
};
const withModel = (nodes, model) => nodes.map((node) => (node.id === "picture" ? { ...node, data: { model } } : node));

const used = [];
const use = async (name, args) => {
  used.push(name);
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args }, { timeout: 120_000 });
  return { isError, content, value: structuredContent ?? JSON.parse(content[0].text) };
};

/** Decisions in order, until there is a result to show. */
const decisions = [
  () => use("save_workflow", graph),
  ({ value }) => use("quote", { workflow: value.slug, inputs: { subject: "a heron" } }),
  // The quote reports that the model doesn't exist, so the agent uses a model from the tools' list.
  async ({ isError }, saved) => {
    if (!isError) throw new Error("a graph without a model was priced");
    const { tools } = await client.listTools();
    const model = tools
      .map(({ name }) => name)
      .find((name) => /^model_.*image/.test(name))
      .replace("model_", "");
    return use("save_workflow", { slug: saved.value.slug, nodes: withModel(saved.value.nodes, model) });
  },
  ({ value }) => use("quote", { workflow: value.slug, inputs: { subject: "a heron" } }),
  ({ value }, saved) =>
    use("run", { workflow: saved.value.slug, inputs: { subject: "a heron" }, maxCredits: value.maxCreditCost, waitSeconds: 0 }),
  ({ value }) => use("get_execution", { executionId: value.executionId, waitSeconds: 120 }),
];

let saved;
let last;
for (const decide of decisions) {
  last = await decide(last, saved);
  saved ??= last;
}
// The workflow's run shows the pictures.
const outcome = await use("run", { workflow: saved.value.slug, inputs: { subject: "a heron" }, maxCredits: 100 });
await client.close();
console.log(
  JSON.stringify({
    used,
    status: last.value.status,
    images: outcome.content.filter(({ type }) => type === "image").length,
    slug: saved.value.slug,
  }),
);
