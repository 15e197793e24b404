/**
 * An agent that builds a workflow from nothing with the official client: it sees a problem, mends it, tries a node, publishes and runs.
 * Arguments: address, key and folder of the client. Prints what it got as JSON.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url = "", key = "", packages = ""] = process.argv.slice(2);
const entry = createRequire(`${packages}/`).resolve("@modelcontextprotocol/client");
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(entry).href);

const client = new Client({ name: "builder", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }));

/** @param {string} name @param {object} args @returns {Promise<any>} */
const call = async (name, args = {}) => {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args }, { timeout: 120_000 });
  if (isError) throw new Error(`${name}: ${content[0].text}`);
  return structuredContent;
};
/** @param {string} name @param {object} args @returns {Promise<any>} */
const refusal = async (name, args) => JSON.parse((await client.callTool({ name, arguments: args })).content[0].text);

const { prompts } = await client.listPrompts();
const { messages } = await client.getPrompt({ name: "build_pipeline", arguments: { goal: "a postcard of a subject" } });
const { contents } = await client.readResource({ uri: "nodeloom://schemas/graph" });
const { kinds } = await call("list_node_kinds", { q: "images inputs result" });
const { models } = await call("list_models", { task: "image" });
const { slug, revision } = await call("save_workflow", { name: "Postcards by an agent" });

const first = await call("patch_workflow", {
  ...{ slug, revision },
  operations: [
    { op: "add_node", id: "in", type: "request-input", data: { fields: [{ name: "subject", type: "text" }] } },
    { op: "add_node", id: "words", type: "text-box", data: { text: "A postcard of {{subject}}" } },
    { op: "add_node", id: "picture", type: "generate-image", data: { model: "sandbox-image-fas" } },
    { op: "add_node", id: "out", type: "response-output" },
    { op: "connect", source: "in", sourceHandle: "subject", target: "words", targetHandle: "subject" },
    { op: "connect", source: "words", sourceHandle: "text", target: "picture", targetHandle: "prompt" },
    { op: "connect", source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
});
const mend = [{ op: "set_data", id: "picture", data: { model: "sandbox-image-fast" } }];
const stale = await refusal("patch_workflow", { slug, revision, operations: mend });
const mended = await call("patch_workflow", { slug, revision: first.revision, operations: mend });
const checked = await call("validate", { slug });
const inputs = { subject: "a heron" };
const tried = await call("run_node", { slug, node: "picture", inputs, maxCredits: 10 });
const reused = await call("run_node", { slug, node: "picture", inputs });
const published = await call("publish", { slug, revision: mended.revision });
const ran = await call("run", { workflow: slug, inputs, maxCredits: 10 });
await client.close();

const outcome = {
  prompts: prompts.map((/** @type {{ name: string }} */ { name }) => name),
  prompt: messages[0].content.text,
  schema: JSON.parse(contents[0].text).type,
  kinds: kinds.map((/** @type {{ type: string }} */ { type }) => type),
  models: models.length,
  ...{ first, stale, mended, checked, tried, reused, published, ran },
};
process.stdout.write(JSON.stringify(outcome));
