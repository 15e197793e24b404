/**
 * An agent whose decisions are made by a text model of the platform that it works on. The model is asked by `/v1/chat/completions` for one
 * decision after the other, as JSON by a schema; what it decides is done by the tools of `/mcp`, and what came of it is told to it before
 * the next. Prints the tools that it chose, and what it has to show.
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
/** What may come next: tools whose arguments are there. A small model forgets what is missing otherwise. */
const POSSIBLE = {
  nothing: ["list_workflows", "save_workflow"],
  saved: ["list_workflows", "save_workflow", "quote"],
  "saved, quoted": ["save_workflow", "quote", "run"],
  "saved, quoted, run": ["save_workflow", "run", "finish"],
};
const nextOf = (done) => object({ tool: { enum: POSSIBLE[done] }, why: { type: "string", maxLength: 80 } });
const PLAN = object({
  name: { type: "string", maxLength: 40 },
  prompt: { type: "string", maxLength: 120 },
  pictures: { enum: [1, 2, 3] },
  model: { enum: pictureModels },
});

const SYSTEM =
  "You make pictures with tools. A workflow is saved first, then it is quoted, then it is run, then you finish. Choose the next tool by what is done so far. Answer with JSON.";
const plannedAs = (plan) => ({ ...plan, model: pictureModels[0] });
/** How another wish was fulfilled. */
const chatOf = (examples) =>
  examples.flatMap(([content, answer]) => [
    { role: "user", content },
    { role: "assistant", content: JSON.stringify(answer) },
  ]);
const CHOSEN = chatOf([
  ["Wish: a fox in the snow. Done so far: saved, quoted, run.", { tool: "finish", why: "The picture is there." }],
  ["Wish: a fox in the snow. Done so far: saved, quoted.", { tool: "run", why: "The price is known." }],
  ["Wish: a fox in the snow. Done so far: saved.", { tool: "quote", why: "Its price is not known yet." }],
  ["Wish: a fox in the snow. Done so far: nothing.", { tool: "save_workflow", why: "There is no workflow for it yet." }],
]);
const PLANNED = chatOf([
  ["Plan the workflow for the wish: a fox in the snow.", plannedAs({ name: "Fox", prompt: "a fox in the snow", pictures: 1 })],
  ["Plan the workflow for the wish: two old boats.", plannedAs({ name: "Old boats", prompt: "an old boat", pictures: 2 })],
]);

const decide = async (content, schema, examples) => {
  const messages = [{ role: "system", content: SYSTEM }, ...examples, { role: "user", content }];
  const response_format = { type: "json_schema", json_schema: { name: "decision", schema } };
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ model, messages, response_format, max_tokens: 200, temperature: 0 }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return { decision: JSON.parse(answer.choices[0].message.content), usage: answer.usage };
};

const use = async (name, args) => {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args }, { timeout: TIMEOUT_MS });
  return { isError, content, value: structuredContent ?? JSON.parse(content[0].text) };
};

/** A plan as a graph: each of several pictures is one of a list. */
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

const state = { done: [], plan: undefined, slug: undefined, price: undefined, shown: undefined };
const tokens = { prompt_tokens: 0, completion_tokens: 0 };
const asked = async (content, schema, examples) => {
  const { decision, usage } = await decide(content, schema, examples);
  for (const name of Object.keys(tokens)) tokens[name] += usage?.[name] ?? 0;
  return decision;
};

const acts = {
  list_workflows: () => use("list_workflows", {}),
  save_workflow: async () => {
    state.plan = await asked(`Plan the workflow for the wish: ${wish}.`, PLAN, PLANNED);
    const saved = await use("save_workflow", { ...graphOf(state.plan), ...(state.slug ? { slug: state.slug } : {}) });
    if (!saved.isError) [state.slug, state.done] = [saved.value.slug, ["saved"]];
    return saved;
  },
  quote: async () => {
    const quoted = await use("quote", { workflow: state.slug ?? "none", inputs: {} });
    if (!quoted.isError) [state.price, state.done] = [quoted.value.maxCreditCost, ["saved", "quoted"]];
    return quoted;
  },
  run: async () => {
    const made = await use("run", { workflow: state.slug ?? "none", inputs: {}, maxCredits: state.price ?? 0, waitSeconds: 120 });
    if (!made.isError) [state.shown, state.done] = [made, ["saved", "quoted", "run"]];
    return made;
  },
  cancel: () => use("cancel", { executionId: state.shown?.value.executionId ?? "none" }),
};

const used = [];
for (let turn = 0; turn < MOST_TURNS && used.at(-1) !== "finish"; turn += 1) {
  const done = state.done.length > 0 ? state.done.join(", ") : "nothing";
  const { tool } = await asked(`Wish: ${wish}. Done so far: ${done}.`, nextOf(done), CHOSEN);
  used.push(tool);
  if (tool !== "finish") await acts[tool]();
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
