import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, fits, is, pick, refuses } from "../check";
import { eventually, unique, type Actor, type Context } from "../context";
import { edge, node, picture, runGraph, runModel, save } from "../graphs";

/** Nodes whose calls fail: fallback models and skipped items. */

const kinds = inSection("D15");
const admin = inSection("D14");
const QUICK = { latencyMs: 10 };
/** Only the first model fails. */
const REFUSED = { ...QUICK, fail: "submit", status: 400, models: ["sandbox-image"] };

const pictureNode = (data: Record<string, unknown>, sandbox: object = REFUSED) => ({
  nodes: [
    node("pic", "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom", sandbox }, ...data }),
    node("out", "response-output"),
  ],
  edges: [edge("pic.image", "out.images")],
});
const nodesOf = async (user: Actor, run: Awaited<ReturnType<typeof runGraph>>): Promise<Record<string, unknown>[]> =>
  pick(answers(await user.get(`/api/executions/${run.headers.get("x-execution-id")}`), 200), "nodes");

const fallback: Case[] = [
  kinds("a fallback model is called if a node's own model rejects the call, and the run is charged for it", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const run = answers(await runGraph(user, pictureNode({ fallback: ["sandbox-image-fast"] })), 200, {
      result: { images: [is.object] },
      cost: is.near(0.52),
    });
    const [pic] = await nodesOf(user, run);
    fits(pic, {
      status: "completed",
      creditsCost: is.near(0.52),
      attempts: [
        { model: "sandbox-image", error: { code: "PROVIDER_SUBMIT_FAILED", message: is.text }, cost: 0 },
        { model: "sandbox-image-fast", cost: is.near(0.52) },
      ],
    });
    const { body } = await user.get(`/api/executions/${run.headers.get("x-execution-id")}`);
    assert.deepEqual(body.modelIds, ["sandbox-image", "sandbox-image-fast"]);
  }),
  kinds("a fallback model is called if a job fails, item by item", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const graph = pictureNode({ fallback: ["sandbox-image-fast"] }, { ...QUICK, fail: "job", models: ["sandbox-image"] });
    const run = answers(
      await runGraph(user, {
        nodes: [...graph.nodes, node("list", "list", { items: ["a", "b"] })],
        edges: [...graph.edges, edge("list.items", "pic.prompt")],
      }),
      200,
      { cost: is.near(1.04) },
    );
    const [pic] = (await nodesOf(user, run)).filter(({ id }) => id === "pic");
    const tried = [{ model: "sandbox-image", cost: 0 }, { model: "sandbox-image-fast" }];
    fits(pic, {
      calls: [
        { item: 0, status: "completed", attempts: tried },
        { item: 1, status: "completed", attempts: tried },
      ],
    });
  }),
  kinds("a run fails for free if every model fails", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const graph = pictureNode({ fallback: ["sandbox-image-fast"] }, { ...QUICK, fail: "submit", status: 400 });
    refuses(await runGraph(user, graph), 500, "EXECUTION_FAILED");
    assert.equal((await user.credits()).held, 0);
  }),
  kinds("a quote is for the most expensive model, and isn't exact if prices differ", async (ctx) => {
    const user = await ctx.shared("business", "fallback");
    const clip = { model: "sandbox-video", prompt: "x", seconds: 1, fallback: ["sandbox-video-pro"] };
    const slug = await save(user, { nodes: [node("clip", "generate-video", clip)] });
    const quoted = await user.post(`/api/workflows/${slug}/quote`, { inputs: {} });
    answers(quoted, 200, { estimatedCreditCost: is.near(26), exact: false });
  }),
  kinds("each fallback model is checked before the run", async (ctx) => {
    const pro = await ctx.shared("pro", "fallback");
    const above = { nodes: [node("clip", "generate-video", { model: "sandbox-video", fallback: ["sandbox-video-pro"], prompt: "x" })] };
    refuses(await runGraph(pro, above), 403, "MODEL_TIER_REQUIRED");
    for (const names of [["nonesuch"], ["sandbox-image"], ["sandbox-music"], ["auto:image"], "sandbox-image-fast"])
      refuses(await runGraph(pro, pictureNode({ fallback: names })), 422, "WORKFLOW_INVALID");
    const slug = await save(pro, pictureNode({ fallback: ["sandbox-image-fast"] }));
    refuses(await pro.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }), 400, "ASYNC_NOT_SUPPORTED");
  }),
];

const items: Case[] = [
  kinds("if a node skips failed items, they are free, with their errors and a warning with their number", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const graph = picture();
    const faults = [QUICK, { fail: "submit", status: 400 }, QUICK];
    const run = answers(
      await runGraph(user, {
        nodes: [
          node("faults", "list", { items: faults }),
          node("names", "list", { items: ["a", "b", "c"] }),
          ...(graph.nodes as { id: string; data: object }[]).map((one) =>
            one.id === "pic" ? { ...one, data: { ...one.data, onItemError: "skip" } } : one,
          ),
          node("box", "text-box", { text: "{{name}}: {{file}}" }),
        ],
        edges: [
          ...graph.edges,
          edge("faults.items", "pic.sandbox"),
          edge("names.items", "box.name"),
          edge("pic.image", "box.file"),
          edge("box.text", "out.captions"),
        ],
      }),
      200,
      { cost: is.near(1.04), result: { images: [is.object, is.object] } },
    );
    const captions = pick<string[]>(run, "result.captions");
    assert.deepEqual(
      captions.map((caption) => caption.slice(0, 3)),
      ["a: ", "c: "],
    );
    const [pic] = (await nodesOf(user, run)).filter(({ id }) => id === "pic");
    fits(pic, { status: "completed", warnings: ["1 of 3 items failed and were left out"] });
    fits(pic, {
      calls: [
        { item: 0, status: "completed", error: null },
        { item: 1, status: "failed", error: { code: is.text, item: 1 }, creditsCost: 0 },
        { item: 2, status: "completed", error: null },
      ],
    });
  }),
  kinds("if every item of a node fails, the node fails, even if it skips failed items", async (ctx) => {
    const user = await ctx.shared("business", "fallback");
    const graph = pictureNode({ model: "sandbox-image-fast", onItemError: "skip" }, { fail: "submit", status: 400 });
    const list = {
      nodes: [...graph.nodes, node("list", "list", { items: ["a", "b"] })],
      edges: [...graph.edges, edge("list.items", "pic.prompt")],
    };
    refuses(await runGraph(user, list), 500, "EXECUTION_FAILED");
    refuses(await runGraph(user, pictureNode({ onItemError: "ignore" })), 422, "WORKFLOW_INVALID");
  }),
];

const SPARE_MODEL = "sandbox-video-pro";
const SPARE_PATH = `/api/admin/models/${SPARE_MODEL}`;

const administrators: Case[] = [
  admin(
    "the fallback that administrators set is called if a model fails, if the key can run it",
    async (ctx) => {
      const user = await ctx.shared("business", "fallback");
      const failing = { seconds: 1, sandbox: { ...QUICK, fail: "submit", status: 400, models: [SPARE_MODEL] } };
      answers(await ctx.admin.patch(SPARE_PATH, { fallback: ["sandbox-video"] }), 200, { fallback: ["sandbox-video"] });
      try {
        const run = await eventually(
          () => runModel(user, SPARE_MODEL, failing),
          ({ status }) => status === 200,
        );
        answers(run, 200, { cost: is.near(6.5), result: { videos: [is.object] } });
      } finally {
        answers(await ctx.admin.patch(SPARE_PATH, { fallback: null }), 200, { fallback: [] });
      }
      await eventually(
        () => runModel(user, SPARE_MODEL, failing),
        ({ status }) => status === 500,
      );
    },
    { alone: true },
  ),
  admin("a list of fallback models is checked when it is set", async (ctx) => {
    for (const names of [
      [SPARE_MODEL],
      ["nonesuch"],
      ["sandbox-music"],
      ["sandbox-video", "sandbox-video"],
      Array(6).fill("sandbox-video"),
      "sandbox-video",
    ])
      refuses(await ctx.admin.patch(SPARE_PATH, { fallback: names }), 400, "INVALID_REQUEST");
  }),
];

interface Retirement {
  retired: boolean;
  retiresOn?: string;
}

/** Adds a model whose successor is `sandbox-image-fast`, and deletes it afterwards. No run calls it. */
const withRetiring = async (ctx: Context, retirement: Retirement, work: (name: string) => Promise<void>): Promise<void> => {
  const { body: file } = await ctx.admin.get("/api/admin/models/sandbox-image-fast");
  const { kind, dialect, outputs } = file.provider as Record<string, unknown>;
  const internalName = `retiring-${unique()}`;
  const provider = { kind, dialect, outputs, app: "gone", baseUrl: "https://models.example.com" };
  const entry = { ...file, internalName, provider, sandbox: false, tasks: [], successor: "sandbox-image-fast", ...retirement };
  answers(await ctx.admin.post("/api/admin/models", entry), 201, { internalName, successor: "sandbox-image-fast", ...retirement });
  try {
    await work(internalName);
  } finally {
    answers(await ctx.admin.delete(`/api/admin/models/${internalName}`), 204);
  }
};

const retirement: Case[] = [
  kinds(
    "a retired model is rejected with its successor, which runs if the node accepts it and is named by quote and execution",
    async (ctx) => {
      const user = await ctx.actor({ tier: "business" });
      await withRetiring(ctx, { retired: true }, async (retiredModel) => {
        const direct = await eventually(
          () => runModel(user, retiredModel),
          ({ body }) => body.successor !== undefined,
        );
        refuses(direct, 404, "MODEL_NOT_FOUND", { successor: "sandbox-image-fast" });
        const graph = (data: object) => pictureNode({ model: retiredModel, ...data }, QUICK);
        for (const data of [{}, { onRetired: "fail" }])
          refuses(await runGraph(user, graph(data)), 422, "WORKFLOW_INVALID", {
            issues: [{ nodeId: "pic", code: "MODEL_RETIRED", params: { model: retiredModel, successor: "sandbox-image-fast" } }],
          });
        refuses(await runGraph(user, graph({ onRetired: "maybe" })), 422, "WORKFLOW_INVALID");
        const accepting = graph({ onRetired: "successor" });
        const slug = await save(user, accepting);
        const warning = `the model ${retiredModel} is retired: sandbox-image-fast runs in its place`;
        answers(await user.post(`/api/workflows/${slug}/quote`, { inputs: {} }), 200, {
          estimatedCreditCost: is.near(0.52),
          warnings: [{ nodeId: "pic", message: warning }],
        });
        const run = answers(await runGraph(user, accepting), 200, { result: { images: [is.object] }, cost: is.near(0.52) });
        const { body } = await user.get(`/api/executions/${run.headers.get("x-execution-id")}`);
        assert.deepEqual(body.modelIds, ["sandbox-image-fast"]);
        fits((await nodesOf(user, run))[0], { id: "pic", warnings: [warning] });
      });
    },
  ),
  kinds("a model that its provider shuts down soon causes a warning in quotes and still runs", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    await withRetiring(ctx, { retired: false, retiresOn: "2026-01-31" }, async (leaving) => {
      const slug = await save(user, pictureNode({ model: leaving }, QUICK));
      const quoted = await eventually(
        () => user.post(`/api/workflows/${slug}/quote`, { inputs: {} }),
        ({ status }) => status === 200,
      );
      answers(quoted, 200, {
        warnings: [{ nodeId: "pic", message: `the provider shuts ${leaving} down on 2026-01-31: change to sandbox-image-fast` }],
      });
    });
  }),
  kinds("a key's webhook can subscribe to model.retiring, the notice of a model that its provider shuts down", async (ctx) => {
    const events = ["model.retiring"];
    const { session, keyId } = await ctx.actor({ tier: "business", webhook: { url: "https://example.com/notices", events } });
    const { body } = answers(await session.get("/api/keys"), 200, is.list);
    const keys = Object.values(body) as { id: string; webhook: { events: string[] } | null }[];
    assert.deepEqual(keys.find(({ id }) => id === keyId)?.webhook?.events, events);
  }),
];

export const failingNodeCases: Case[] = [...fallback, ...items, ...administrators, ...retirement];
