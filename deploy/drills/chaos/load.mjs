import { randomUUID } from "node:crypto";

const SPREAD_MS = 75_000;

/** @param {string} id @param {string} type @param {object} [data] */
const node = (id, type, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data });
/** @param {string} from @param {string} to */
const edge = (from, to) => ({
  id: `${from}-${to}`,
  source: from.split(".")[0],
  sourceHandle: from.split(".")[1],
  target: to.split(".")[0],
  targetHandle: to.split(".")[1],
});
const input = node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }] });
const out = node("out", "response-output");
const seconds = (/** @type {number} */ n) => ({ latencyMs: n * 1_000 });

/** Graphs by name, and whether they are run asynchronously. */
const GRAPHS = [
  {
    isAsync: true,
    graph: {
      name: "Chaos clip",
      nodes: [input, node("v", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: seconds(4) } }), out],
      edges: [edge("in.prompt", "v.prompt"), edge("v.video", "out.videos")],
    },
  },
  {
    isAsync: true,
    graph: {
      name: "Chaos two",
      nodes: [
        input,
        node("i", "generate-image", { model: "sandbox-image", inputs: { sandbox: seconds(1) } }),
        node("m", "generate-audio", { model: "sandbox-music", inputs: { sandbox: seconds(2) } }),
        out,
      ],
      edges: [edge("in.prompt", "i.prompt"), edge("in.prompt", "m.prompt"), edge("i.image", "out.images"), edge("m.audio", "out.audios")],
    },
  },
  {
    isAsync: false,
    graph: {
      name: "Chaos chat",
      nodes: [input, node("c", "llm-assistant", { model: "sandbox-chat", maxTokens: 30, sandbox: seconds(1) }), out],
      edges: [edge("in.prompt", "c.prompt"), edge("c.text", "out.text")],
    },
  },
  {
    isAsync: false,
    graph: {
      name: "Chaos text",
      nodes: [input, node("t", "text-box", { text: "Hi {{x}}" }), out],
      edges: [edge("in.prompt", "t.x"), edge("t.text", "out.text")],
    },
  },
  {
    isAsync: true,
    graph: {
      name: "Chaos cancel",
      cancel: true,
      nodes: [input, node("v", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: seconds(60) } }), out],
      edges: [edge("in.prompt", "v.prompt")],
    },
  },
];

/**
 * Runs of every kind, spread over the time in which things break.
 * @param {{ api: ReturnType<import("../support/api.mjs").createApi>, user: import("../support/api.mjs").User, runs: number, say: (line: string) => void }} options
 */
export const createLoad = async ({ api, user, runs, say }) => {
  /** @type {{ slug: string, isAsync: boolean, cancel: boolean }[]} */
  const kinds = [];
  for (const { graph, isAsync } of GRAPHS) {
    const { cancel, ...definition } = /** @type {any} */ (graph);
    const saved = await api.call("POST", "/api/workflows", { key: user.key, body: definition });
    if (saved.status !== 201) throw new Error(`could not save ${graph.name}: ${JSON.stringify(saved.body)}`);
    kinds.push({ slug: saved.body.slug, isAsync, cancel: cancel === true });
  }

  /** @param {number} index */
  const one = async (index) => {
    await new Promise((resolve) => setTimeout(resolve, (index / runs) * SPREAD_MS));
    const kind = /** @type {typeof kinds[number]} */ (kinds[index % kinds.length]);
    const path = `/api/workflows/${kind.slug}/run${kind.isAsync ? "?async=true" : ""}`;
    const answer = await api.call("POST", path, { key: user.key, body: { inputs: {} }, idempotencyKey: randomUUID() });
    const executionId = answer.body?.executionId ?? answer.headers.get("x-execution-id");
    if (kind.cancel && answer.status === 202) await api.call("POST", `/api/executions/${executionId}/cancel`, { key: user.key });
    return { executionId, status: answer.status, code: answer.body?.code ?? null, ...kind };
  };

  return {
    start: async () => {
      const settled = await Promise.allSettled(Array.from({ length: runs }, (_, index) => one(index)));
      const lost = settled.filter((result) => result.status === "rejected");
      for (const result of lost.slice(0, 5)) say(`no answer: ${result.reason}`);
      return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    },
  };
};
