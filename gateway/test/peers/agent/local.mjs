/**
 * An agent whose decisions come from a text model of the platform on which it works. It asks the model through `/v1/chat/completions` for
 * one decision after another, as JSON by a schema. It carries out each decision with the tools of `/mcp`, and sends the result to the model
 * with the next question. Prints the tools that it chose, and its final answer.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [origin, key, model, wish] = process.argv.slice(2);
const MOST_TURNS = 12;
const TIMEOUT_MS = 300_000;
const headers = { Authorization: `Bearer ${key}` };

const client = new Client({ name: "local-agent", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp?models=true`), { requestInit: { headers } }));
const { tools } = await client.listTools();
const pictureModels = tools.map(({ name }) => name).filter((name) => /^model_.*image/.test(name)).map((name) => name.replace("model_", "")); // prettier-ignore

const object = (properties) => ({ type: "object", required: Object.keys(properties), properties, additionalProperties: false });
/** Tools whose arguments are known, because a small model forgets missing ones. */
const possible = ({ slug, price, shown }) => [
  "list_workflows",
  "save_workflow",
  ...(slug === undefined ? [] : ["quote"]),
  ...(price === undefined ? [] : ["run"]),
  ...(shown === undefined ? [] : ["finish"]),
];
const PLAN = object({
  name: { type: "string", maxLength: 40 },
  prompt: { type: "string", maxLength: 120 },
  pictures: { enum: [1, 2, 3] },
  model: { enum: pictureModels },
});

const SYSTEM =
  "You make pictures with tools. A workflow is saved first, then it is quoted, then it is run, then you finish. Choose the next tool by what the last one answered. Answer with JSON.";
const message = (role, content) => ({ role, content: typeof content === "string" ? content : JSON.stringify(content) });
const wished = (text) => `Wish: ${text}.`;
const answered = (tool, text) => `${tool} answered: ${text}.`;
/** Example of another completed request. */
const fulfilled = (text, slug, price) => [
  message("user", wished(text)),
  message("assistant", { tool: "save_workflow" }),
  message("user", answered("save_workflow", `${slug} is saved`)),
  message("assistant", { tool: "quote" }),
  message("user", answered("quote", `it costs ${price} credits`)),
  message("assistant", { tool: "run" }),
  message("user", answered("run", "completed")),
  message("assistant", { tool: "finish" }),
];
const FULFILLED = [...fulfilled("a fox in the snow", "fox", 3), ...fulfilled("two old boats", "old-boats", 8)];
const planned = (text, plan) => [
  message("user", `Plan the workflow for the wish: ${text}.`),
  message("assistant", { ...plan, model: pictureModels[0] }),
];
const PLANNED = [
  ...planned("a fox in the snow", { name: "Fox", prompt: "a fox in the snow", pictures: 1 }),
  ...planned("two old boats", { name: "Old boats", prompt: "an old boat", pictures: 2 }),
];

const tokens = { prompt_tokens: 0, completion_tokens: 0 };
/** Returns the model's next decision, as JSON by the schema. */
const decide = async (chat, schema) => {
  const messages = [message("system", SYSTEM), ...chat];
  const response_format = { type: "json_schema", json_schema: { name: "decision", schema } };
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ model, messages, response_format, max_tokens: 200, temperature: 0 }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  for (const name of Object.keys(tokens)) tokens[name] += answer.usage?.[name] ?? 0;
  return JSON.parse(answer.choices[0].message.content);
};

const use = async (name, args) => {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args }, { timeout: TIMEOUT_MS });
  if (isError) throw new Error(`${name}: ${content[0].text}`);
  return { content, value: structuredContent ?? JSON.parse(content[0].text) };
};

/** Converts a plan to a graph. Several pictures become items of a list. */
const graphOf = ({ name, prompt, pictures, model }) => ({
  name,
  nodes: [
    { id: "which", type: "list", data: { items: Array.from({ length: pictures }, (_, index) => `no. ${index + 1}`) } },
    { id: "idea", type: "text-box", data: { text: `${prompt}, {{which}}` } },
    { id: "picture", type: "generate-image", data: { model } },
    { id: "out", type: "response-output", data: {} },
  ],
  edges: [
    { source: "which", sourceHandle: "items", target: "idea", targetHandle: "which" },
    { source: "idea", sourceHandle: "text", target: "picture", targetHandle: "prompt" },
    { source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
});

const state = { plan: undefined, slug: undefined, price: undefined, shown: undefined };
/** Runs each tool and summarizes its answer. */
const acts = {
  list_workflows: async () => {
    const { value } = await use("list_workflows", {});
    return `${value.workflows.length} are there`;
  },
  save_workflow: async () => {
    state.plan = await decide([...PLANNED, message("user", `Plan the workflow for the wish: ${wish}.`)], PLAN);
    const { value } = await use("save_workflow", { ...graphOf(state.plan), ...(state.slug ? { slug: state.slug } : {}) });
    state.slug = value.slug;
    return `${value.slug} is saved`;
  },
  quote: async () => {
    const { value } = await use("quote", { workflow: state.slug, inputs: {} });
    state.price = value.maxCreditCost;
    return `it costs ${state.price} credits`;
  },
  run: async () => {
    state.shown = await use("run", { workflow: state.slug, inputs: {}, maxCredits: state.price, waitSeconds: 120 });
    return state.shown.value.status;
  },
};

const used = [];
const chat = [...FULFILLED, message("user", wished(wish))];
for (let turn = 0; turn < MOST_TURNS; turn += 1) {
  const { tool } = await decide(chat, object({ tool: { enum: possible(state) } }));
  used.push(tool);
  if (tool === "finish") break;
  chat.push(message("assistant", { tool }), message("user", answered(tool, await acts[tool]())));
}
await client.close();
console.log(
  JSON.stringify({
    used,
    plan: state.plan,
    slug: state.slug,
    status: state.shown?.value.status,
    images: state.shown?.content.filter(({ type }) => type === "image").length ?? 0,
    tokens,
  }),
);
