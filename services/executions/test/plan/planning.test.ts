import { callInputs, createMediaUrls, innerOwner, type DomainError, type RunPlan } from "@nodeloom/kernel";
import { executions, workflows } from "@nodeloom/proto";
import { withFiles } from "../../src/plan/files";
import type { PinnedGraphs } from "../../src/plan/kept-graphs";
import { createModelCatalog } from "../../src/plan/model-catalog";
import { createPlanning, type PlannedRun, type Planning } from "../../src/plan/planning";
import { TIMING } from "../../src/run/timing";
import { notMeasured, planInProcess, startPlanningServices, type PlanningServices } from "../support/planning-services";

let services: PlanningServices;
let clients: PlanningServices["clients"];
let planning: Planning;
beforeAll(async () => {
  services = await startPlanningServices();
  ({ clients, planning } = services);
});
afterAll(() => services.stop());

const runner = (part: Partial<executions.Runner> = {}): executions.Runner =>
  executions.Runner.fromPartial({
    userId: "owner",
    role: "user",
    tier: "pro",
    baseTier: "pro",
    markupPermille: 1_500,
    concurrency: 10,
    ...part,
  });
type Target = executions.Target["target"];
const plan = (
  target: Target,
  inputs: unknown,
  options: { runner?: executions.Runner; isAsync?: boolean; until?: string; storesNothing?: boolean } = {},
): Promise<PlannedRun> =>
  planning.plan({
    target,
    runner: options.runner ?? runner(),
    inputsJson: typeof inputs === "string" ? inputs : JSON.stringify(inputs),
    isAsync: options.isAsync ?? false,
    until: options.until ?? "",
    storesNothing: options.storesNothing ?? false,
  });
const model = (value: string): Target => ({ $case: "model", value });
const create = (nodes: unknown[], edges: [string, string][] = [], ownerId = "owner", isTemplate = false): Promise<Target> =>
  services.create(nodes, edges, ownerId, isTemplate);
const upload = (ownerId: string): Promise<string> => services.upload(ownerId);

it("keeps every digit of an integer that a double would round, and rejects one for a number", async () => {
  const fields = [{ name: "x", type: "json" }, { name: "n", type: "number" }]; // prettier-ignore
  const target = await create(
    [{ id: "in", type: "request-input", data: { fields } }, { id: "t", type: "text-box", data: { text: "{{x}}" } }, { id: "out", type: "response-output", data: {} }],
    [["in.x", "t.x"], ["t.text", "out.text"]],
  ); // prettier-ignore
  expect((await plan(target, '{"x": 7615917337495251231}')).plan.output.text).toEqual([{ value: "7615917337495251231" }]);
  await expect(plan(target, '{"n": 7615917337495251231}')).rejects.toThrow(/inputs\.n.* must be at most 9007199254740991/);
  await expect(plan(model("sandbox-image-fast"), '{"prompt": "x", "seed": 18446744073709551615}')).rejects.toThrow(
    /seed.* must be at most/,
  );
});

it("plans another user's public playground without the texts of its nodes", async () => {
  const nodes = [
    { id: "t", type: "text-box", data: { label: "Secret sauce", text: "paint it {{colour}}", txet: 1 } },
    { id: "pic", type: "generate-image", data: { label: "Picture", model: "sandbox-image-fast" } },
    { id: "out", type: "response-output", data: {} },
  ];
  const target = await create(nodes, [["t.text", "pic.prompt"], ["pic.image", "out.images"]]); // prettier-ignore
  await clients.workflows.updateWorkflow(
    workflows.UpdateWorkflowRequest.fromPartial({ slug: target!.value, ownerId: "owner", publicPlayground: true }),
  );
  const { plan: own } = await plan(target, {});
  expect(own).toMatchObject({ labels: { t: "Secret sauce" }, evaluated: [{ id: "t" }] });
  const { plan: hiddenPlan, holds } = await plan(target, {}, { runner: runner({ userId: "visitor" }) });
  expect(hiddenPlan).toMatchObject({ hidesOutputs: true, warnings: {}, evaluated: [{ id: "t", type: "text-box", warnings: [] }] });
  expect([hiddenPlan.labels, holds.length]).toEqual([undefined, 1]);
  expect(JSON.stringify(hiddenPlan.evaluated)).not.toContain("paint");
});

it("stores pictures in another user's hidden graph for no account, and those of the caller for the caller", async () => {
  const dataUrl = (last: number) =>
    `data:image/png;base64,${Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(64, last)]).toString("base64")}`;
  const nodes = [
    { id: "in", type: "request-input", data: { fields: [{ name: "photo", type: "image_upload" }] } },
    { id: "a", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x", image: dataUrl(1) } } },
    { id: "b", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } },
  ];
  const target = await create(nodes, [["in.photo", "b.image"]]);
  await clients.workflows.updateWorkflow(
    workflows.UpdateWorkflowRequest.fromPartial({ slug: target!.value, ownerId: "owner", publicPlayground: true }),
  );
  await plan(target, { photo: dataUrl(2) }, { runner: runner({ userId: "guest" }) });
  const listed = async (ownerId: string) => (await clients.media.listObjects({ ownerId, limit: 10, cursor: "" })).objects.length;
  expect([await listed("guest"), await listed(innerOwner("guest"))]).toEqual([1, 1]);
});

it("names the node and the field that prevent a hidden graph from running, and no value of its author", async () => {
  const headers = { "x-internal-token": { a: 1 } };
  const target = await create([
    { id: "web", type: "http-request", data: { label: "Secret sauce", url: "x/internal?api_key=k", headers } },
    { id: "pic", type: "generate-image", data: { model: "secret-model", inputs: { prompt: "a secret prompt" } } },
  ]);
  await clients.workflows.updateWorkflow(
    workflows.UpdateWorkflowRequest.fromPartial({ slug: target!.value, ownerId: "owner", publicPlayground: true }),
  );
  const planError = await plan(target, {}, { runner: runner({ userId: "visitor" }) }).catch((error: unknown) => error as DomainError);
  expect(planError).toMatchObject({ reason: "WORKFLOW_INVALID", message: expect.stringContaining("web: url: can't be used") as string });
  expect(JSON.stringify([(planError as DomainError).message, (planError as DomainError).metadata])).not.toMatch(
    /internal|api_key|secret|sauce/i,
  );
  await expect(plan(target, {})).rejects.toMatchObject({ message: expect.stringContaining("url: is not a URL") as string });
});

it("suggests a model for a misspelt name, in a workflow and directly", async () => {
  const message = "there is no enabled model sandbox-imgae: did you mean sandbox-image?";
  await expect(plan(model("sandbox-imgae"), { prompt: "x" })).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND", message });
  const data = { model: "sandbox-imgae", inputs: { prompt: "x" } };
  const changedNode = { id: "b", type: "generate-image", data: { ...data, model: "sandbox-image-fast" } };
  for (const others of [[], [changedNode]]) {
    const target = await create([{ id: "a", type: "generate-image", data }, ...others]);
    const issues = [{ nodeId: "a", message }];
    await expect(plan(target, {})).rejects.toMatchObject({ reason: "WORKFLOW_INVALID", metadata: { issues } });
  }
});

it("lets a runner without editing rights set only models within their capabilities, including a task's model", async () => {
  const target = await create([{ id: "a", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } }]);
  const planned = (settings: object, capabilities: string[]) =>
    planning.plan({
      ...{ target, runner: runner({ capabilities: ["workflow:run", ...capabilities] }), inputsJson: "{}", isAsync: false },
      settingsJson: JSON.stringify({ a: settings }),
    });
  await expect(planned({ bypass: true }, [])).rejects.toMatchObject({ metadata: { required: "workflow:write" } });
  for (const model of ["sandbox-image-fast", "auto:image"])
    await expect(planned({ model }, [])).rejects.toMatchObject({ reason: "CAPABILITY_DENIED" });
  for (const [settings, capability] of [
    [{ model: "sandbox-image-fast" }, "model:sandbox-image-fast:run"],
    [{ model: "auto:image" }, "model:run"],
    [{ bypass: true }, "workflow:write"],
  ] as const)
    await expect(planned(settings, [capability])).resolves.toBeDefined();
});

describe("a direct run", () => {
  it("accepts texts unchanged, including template placeholders", async () => {
    const { plan: planned, holds } = await plan(model("sandbox-chat"), { prompt: "Explain {{name}} in Jinja" });
    expect(callInputs(planned.steps[0]!, {}).prompt).toBe("Explain {{name}} in Jinja");
    expect(planned.warnings).toEqual({});
    expect(holds).toHaveLength(1);
  });

  it.each([
    ["text that isn't JSON", "{", "INVALID_INPUTS"],
    ["a list", "[]", "INVALID_INPUTS"],
    ["nothing", "null", "INVALID_INPUTS"],
    ["a missing input", "{}", "INVALID_INPUTS"],
    ["an unknown input", '{"prompt":"x","promt":1}', "INVALID_INPUTS"],
    ["a media file of nobody", '{"prompt":"x","image":"no-such-file"}', "INVALID_INPUTS"],
  ])("rejects %s", async (_, inputs, reason) => {
    await expect(plan(model("sandbox-image"), inputs)).rejects.toMatchObject({ reason });
  });

  it("returns tool calls with the text if tools are given, and holds the cost of their descriptions", async () => {
    const tools = [{ type: "function", function: { name: "weather", description: "x".repeat(40_000), parameters: { type: "object" } } }];
    const ask = (inputs: object) => plan(model("sandbox-chat"), { prompt: "Rain?", ...inputs });
    const [without, within] = [await ask({}), await ask({ tools })];
    const outputNames = ({ plan: { output } }: PlannedRun): string[] => Object.keys(output);
    expect([outputNames(without), outputNames(within)]).toEqual([["text"], ["text", "json"]]);
    expect(within.holds[0]!.maxMillicredits).toBeGreaterThan(10 * without.holds[0]!.maxMillicredits);
  });

  it("rejects a model that isn't downloaded yet with the time to retry, but quotes it", async () => {
    await expect(plan(model("local-speech"), { prompt: "x" })).rejects.toMatchObject({
      kind: "unavailable",
      reason: "SERVICE_UNAVAILABLE",
      metadata: { model: "local-speech", retryAfter: 60 },
    });
    expect((await plan(model("local-speech"), { prompt: "x" }, { storesNothing: true })).modelIds).toEqual(["local-speech"]);
  });

  it("rejects an unknown model, one above the tier, and one that can't run asynchronously", async () => {
    await expect(plan(model("nothing-like-it"), {})).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND" });
    const low = { runner: runner({ tier: "free", baseTier: "free" }) };
    await expect(plan(model("sandbox-video"), { prompt: "x" }, low)).rejects.toMatchObject({
      reason: "MODEL_TIER_REQUIRED",
      metadata: { requiredTier: "pro", tier: "free" },
    });
    await expect(plan(model("sandbox-chat"), { prompt: "x" }, { isAsync: true })).rejects.toMatchObject({ reason: "ASYNC_NOT_SUPPORTED" });
    expect(
      (await plan(model("sandbox-video"), { prompt: "x" }, { runner: runner({ baseTier: "free", role: "admin" }) })).holds,
    ).toHaveLength(1);
  });

  it("gives the model the address of the caller's own file, and of no other user's", async () => {
    const id = await upload("owner");
    const { plan: planned } = await plan(model("sandbox-image"), { prompt: "x", image: id });
    expect(planned.steps[0]!.literals).toMatchObject({
      image: expect.stringMatching(/^http:\/\/public\.test\/media\//) as string,
    });
    await expect(plan(model("sandbox-image"), { prompt: "x", image: id }, { runner: runner({ userId: "thief" }) })).rejects.toMatchObject({
      reason: "INVALID_INPUTS",
    });
  });
});

describe("the id of a file, in place of its address", () => {
  const url = expect.stringMatching(/^http:\/\/public\.test\/media\//) as string;
  const pic = (inputs: Record<string, unknown>): unknown => ({
    id: "pic",
    type: "generate-image",
    data: { model: "sandbox-image", inputs },
  });
  const nodesWith = (id: string): unknown[] => [
    pic({ prompt: "x", image: id }),
    { id: "chat", type: "llm-assistant", data: { model: "sandbox-chat", prompt: "what is it?", image: id } },
    { id: "ids", type: "list", data: { items: [id, "https://x.test/a.png", "data:image/png;base64,aaaa"] } },
    { id: "each", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } },
    { id: "out", type: "response-output", data: {} },
  ];
  const edges: [string, string][] = [
    ["ids.items", "each.image"],
    ["ids.items", "out.images"],
  ];

  it("is valid wherever a node's settings, or a list linked to it, contain a file", async () => {
    const id = await upload("owner");
    const { plan: planned } = await plan(await create(nodesWith(id), edges), {});
    const inputs = new Map(planned.steps.map((step) => [step.id, callInputs(step, {}).image]));
    expect([inputs.get("pic"), inputs.get("chat")]).toEqual([url, url]);
    const images = [{ id, url, contentType: "image/png" }, "https://x.test/a.png", "data:image/png;base64,aaaa"];
    expect(planned.steps.find((step) => step.id === "each")!.sources.image).toEqual([{ value: images }]);
    expect(planned.output.images).toEqual([{ value: images }]);
  });

  it("is rejected at every node that uses it if it is unknown, or belongs to another user", async () => {
    for (const id of ["no-such-file", await upload("someone-else")]) {
      const message = `image: you have no media file ${id}`;
      await expect(plan(await create(nodesWith(id), edges), {})).rejects.toMatchObject({
        reason: "WORKFLOW_INVALID",
        metadata: {
          issues: [
            { nodeId: "pic", message },
            { nodeId: "chat", message },
            { nodeId: "each", message },
            { nodeId: "out", message: expect.stringContaining(id) as string },
          ],
        },
      });
    }
  });

  it("names the input of a direct run, which also accepts data URLs", async () => {
    await expect(plan(model("sandbox-chat"), { prompt: "x", image: "no-such-file" })).rejects.toMatchObject({
      metadata: { issues: [{ path: "inputs.image", message: "you have no media file no-such-file" }] },
    });
    await expect(plan(model("sandbox-chat"), { prompt: "x", image: "data:audio/wav;base64,aa" })).rejects.toMatchObject({
      metadata: { issues: [{ path: "inputs.image", message: "must be an image, but is an audio file" }] },
    });
    const data = "data:image/png;base64,aaaa";
    expect((await plan(model("sandbox-image"), { prompt: "x", image: data })).plan.steps[0]!.literals.image).toBe(data);
    expect((await plan(model("sandbox-chat"), { prompt: "x", image: await upload("owner") })).plan.steps[0]!.literals.image).toEqual(url);
  });

  it("is valid, and checked, in values known only when a node starts", async () => {
    const file = { type: "string", format: "media", contentMediaType: "image/*" };
    const schema = { type: "object", properties: { one: file, all: { type: "array", items: file }, text: { type: "string" } } };
    const id = await upload("owner");
    const ready = (inputs: Record<string, unknown>): Promise<unknown> => withFiles(clients.media, schema, inputs, "owner");
    expect(await ready({ one: id, all: [id, "https://x.test/a"], text: id })).toEqual({
      inputs: { one: url, all: [url, "https://x.test/a"], text: id },
    });
    expect(await ready({ text: "x", one: "", all: ["", id] })).toEqual({ inputs: { text: "x", all: [url] } });
    expect(await ready({ all: [id, "no-such-file"] })).toEqual({ problem: "all: you have no media file no-such-file" });
    expect(await ready({ one: await upload("someone-else") })).toHaveProperty("problem");
    expect(await ready({ one: "not an address" })).toEqual({
      problem: "one: must be an image: an http(s) URL, a data URL or a media id",
    });
  });

  it("must be of a file of the field's kind", async () => {
    const slug = await create([{ id: "in", type: "request-input", data: { fields: [{ name: "song", type: "audio_upload" }] } }]);
    for (const song of [await upload("owner"), "data:image/png;base64,aaaa"])
      await expect(plan(slug, { song })).rejects.toMatchObject({
        metadata: { issues: [{ path: "inputs.song", message: "must be an audio file, but is an image" }] },
      });
  });
});

describe("a workflow run", () => {
  const field = {
    id: "in",
    type: "request-input",
    data: {
      fields: [
        { name: "photo", type: "image_upload" },
        { name: "n", type: "number" },
      ],
    },
  };

  it("rejects inputs by field, and an unknown slug and another user's workflow alike", async () => {
    const slug = await create([field]);
    await expect(plan(slug, { n: "1", photo: 3, other: 1 })).rejects.toMatchObject({
      reason: "INVALID_INPUTS",
      metadata: {
        issues: [{ path: "inputs.other" }, { path: "inputs.photo" }, { path: "inputs.n" }],
      },
    });
    for (const [target, userId] of [
      [slug, "someone-else"],
      [{ $case: "workflowSlug", value: "no-such-workflow" } as Target, "owner"],
    ] as const) {
      await expect(plan(target, {}, { runner: runner({ userId }) })).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    }
  });

  it("lists every reason why a graph can't run", async () => {
    const slug = await create([
      { id: "a", type: "nothing-known" },
      { id: "b", type: "generate-image", data: {} },
      { id: "c", type: "generate-image", data: { model: "no-such-model" } },
      { id: "d", type: "media-upload", data: { mediaId: "no-such-file" } },
    ]);
    await expect(plan(slug, {})).rejects.toMatchObject({
      reason: "WORKFLOW_INVALID",
      metadata: {
        issues: [
          { nodeId: "a", code: "UNKNOWN_KIND" },
          { nodeId: "b", code: "MODEL_MISSING" },
          { nodeId: "c", code: "MODEL_UNKNOWN", params: { model: "no-such-model" } },
          { nodeId: "d", code: "FILE_UNKNOWN" },
        ],
      },
    });
  });

  it("never runs the graph of a deleted workflow with the same name", async () => {
    const nodes = (text: string): unknown[] => [
      { id: "box", type: "text-box", data: { text } },
      { id: "out", type: "response-output", data: {} },
    ];
    const first = await create(nodes("old"), [["box.text", "out.text"]]);
    expect((await plan(first, {})).plan.output).toEqual({ text: [{ value: "old" }] });
    await clients.workflows.deleteWorkflow({ slug: first!.value, ownerId: "owner" });
    const second = await create(nodes("new"), [["box.text", "out.text"]]);
    expect(second!.value).toBe(first!.value);
    expect((await plan(second, {})).plan.output).toEqual({ text: [{ value: "new" }] });
  });

  it("moves files' addresses of the time before a move, in graphs and inputs, and no look-alikes", async () => {
    const [key, other] = [`${"ab".repeat(16)}.png`, `${"cd".repeat(16)}.png`];
    const texts = (host: string): string => `${host}/media/${key} https://former.test.elsewhere.test/media/${other}`;
    const nodes = [
      { id: "in", type: "request-input", data: { fields: [{ name: "t", type: "text" }] } },
      { id: "box", type: "text-box", data: { text: texts("https://former.test") } },
      { id: "out", type: "response-output", data: {} },
    ];
    const target = await create(nodes, [["box.text", "out.text"], ["in.t", "out.text"]]); // prettier-ignore
    const { plan: movedPlan, inputsJson } = await plan(target, { t: texts("https://former.test") });
    const value = texts("https://platform.test");
    expect(movedPlan.output).toEqual({ text: [{ value }, { value }] });
    expect(JSON.parse(inputsJson)).toEqual({ t: value });
  });

  it("reads its graph's requirements once, and plans at once, or once more with files", async () => {
    const local = planInProcess();
    const calls: string[] = [];
    const { plan: planCounted } = createPlanning({
      urls: createMediaUrls("https://platform.test"),
      workflows: clients.workflows,
      media: clients.media,
      requirePrograms: () => Promise.resolve(),
      requireSecrets: () => Promise.resolve(),
      catalog: createModelCatalog(clients.models),
      measure: notMeasured,
      planner: {
        needs: (...args) => (calls.push("needs"), local.needs(...args)),
        plan: (...args) => (calls.push("plan"), local.plan(...args)),
      },
    });
    const target = await create([field, { id: "pic", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } }]);
    const callsFor = async (inputs: object, until = ""): Promise<string[]> => {
      calls.splice(0);
      await planCounted({ target, runner: runner(), inputsJson: JSON.stringify(inputs), isAsync: false, until });
      return [...calls];
    };
    expect(await callsFor({})).toEqual(["needs", "plan"]);
    expect(await callsFor({ n: 1 })).toEqual(["plan"]);
    expect(await callsFor({ photo: await upload("owner") })).toEqual(["plan", "plan"]);
    expect(await callsFor({}, "pic")).toEqual(["needs", "plan"]);
  });

  it("uses an uploaded file from a field and from a node, and reads a changed definition at once", async () => {
    const id = await upload("owner");
    const out = { id: "out", type: "response-output", data: {} };
    const slug = await create(
      [field, { id: "up", type: "media-upload", data: { mediaId: id } }, out],
      [
        ["in.photo", "out.photo"],
        ["up.media", "out.file"],
      ],
    );
    const { plan: planned } = await plan(slug, { photo: id });
    const file = { value: { id, url: expect.stringMatching(/^http/) as string, contentType: "image/png" } };
    expect(planned.output).toEqual({ photo: [file], file: [file] });
    await clients.workflows.updateWorkflow(
      workflows.UpdateWorkflowRequest.fromPartial({ slug: slug!.value, ownerId: "owner", edgesJson: "[]" }),
    );
    expect((await plan(slug, {})).plan.output).toEqual({});
  });
});

describe("another user's template", () => {
  const url = expect.stringMatching(/^http:\/\/public\.test\/media\//) as string;
  const file = { id: expect.any(String) as string, url, contentType: "image/png" };
  const stranger = { runner: runner({ userId: "stranger" }) };
  const template = (nodes: unknown[], edges: [string, string][] = []): Promise<Target> => create(nodes, edges, "author", true);
  const photoField = (fallback?: string): unknown => ({
    id: "in",
    type: "request-input",
    data: { fields: [{ name: "photo", type: "image_upload", ...(fallback ? { default: fallback } : {}) }] },
  });
  const pic = { id: "pic", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } };
  const out = { id: "out", type: "response-output", data: {} };
  const refusals = (id: string): object => ({ message: expect.stringContaining(`you have no media file ${id}`) as string });

  it("runs with its author's files, wherever it names them", async () => {
    const [example, id] = [await upload("author"), await upload("author")];
    const nodes = [
      photoField(example),
      { id: "up", type: "media-upload", data: { mediaId: id } },
      { id: "ids", type: "list", data: { items: [id] } },
      { id: "set", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x", image: id } } },
      pic,
      out,
    ];
    const target = await template(nodes, [
      ["in.photo", "out.photo"],
      ["up.media", "out.file"],
      ["ids.items", "pic.image"],
    ]);
    const { plan: planned } = await plan(target, {}, stranger);
    expect(planned.output).toEqual({ photo: [{ value: file }], file: [{ value: file }] });
    expect(planned.steps.find((step) => step.id === "set")!.literals.image).toEqual(url);
    expect(planned.steps.find((step) => step.id === "pic")!.sources.image).toEqual([{ value: [file] }]);
    expect(planned.authorFiles).toBeUndefined();
    // The runner can't see the outputs of its nodes, because they can show a private file.
    expect(planned.hidesOutputs).toBe(true);
    expect(JSON.stringify(planned.evaluated)).not.toContain("public.test");
    expect(JSON.stringify((await plan(target, {}, { runner: runner({ userId: "author" }) })).plan.evaluated)).toContain("public.test");
    // An explicit field is the runner's own file.
    expect((await plan(target, { photo: await upload("stranger") }, stranger)).plan.output.photo).toEqual([{ value: file }]);
  });

  it("shows the outputs of its nodes if they use none of its author's files but the examples of its fields", async () => {
    const target = await template(
      [
        photoField(await upload("author")),
        { ...pic, data: { ...pic.data, label: "pic" } },
        { id: "wide", type: "json", data: { expression: "width" } },
        out,
      ],
      [
        ["in.photo", "pic.image"],
        ["pic.image", "out.images"],
        ["pic.image", "wide.value"],
        ["wide.value", "out.width"],
      ],
    );
    expect((await plan(target, {}, stranger)).plan.hidesOutputs).toBeUndefined();
  });

  it("gives a reader none of its author's files for their ids, in any input", async () => {
    const id = await upload("author");
    const text = (name: string, fallback = ""): object => ({ name, type: "text", default: fallback });
    const fields = [{ name: "photo", type: "image_upload" }, text("a"), text("b"), { name: "any", type: "json" }];
    const nodes = [
      { id: "in", type: "request-input", data: { fields } },
      { id: "both", type: "text-box", data: { text: "{{a}}{{b}}" } },
      { ...pic, data: { model: "sandbox-image", inputs: { prompt: "x", image: id } } },
      { id: "ids", type: "list", data: { items: [] } },
      { id: "later", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } },
      out,
    ];
    const flow: [string, string][] = [
      ["in.photo", "out.images"],
      ["both.text", "later.image"],
    ];
    const target = await template(nodes, flow);
    expect((await plan(target, {}, stranger)).plan.steps.find((step) => step.id === "pic")!.literals.image).toEqual(url);
    await expect(plan(target, { photo: id }, stranger)).rejects.toMatchObject({ reason: "INVALID_INPUTS" });
    for (const inputs of [{ a: id }, { b: id }, { a: id.slice(0, 16), b: id.slice(16) }]) {
      await expect(plan(target, inputs, stranger)).rejects.toMatchObject(refusals(id));
    }
    await expect(plan(target, { any: { deep: [id] } }, stranger)).rejects.toMatchObject({ reason: "WORKFLOW_INVALID" });
    expect((await plan(target, { photo: id }, { runner: runner({ userId: "author" }) })).plan.output.images).toEqual([{ value: file }]);
  });

  it("includes files that can be needed during the run, and no more", async () => {
    const [id, other] = [await upload("author"), await upload("author")];
    const nodes = [
      { id: "chat", type: "llm-assistant", data: { model: "sandbox-chat", prompt: `describe ${other}` } },
      { id: "ids", type: "list", data: { items: [id, "word", await upload("third")] } },
      { id: "note", type: "note", data: { text: other } },
      pic,
    ];
    const edges: [string, string][] = [
      ["chat.text", "ids.items"],
      ["ids.items", "pic.image"],
    ];
    const { plan: planned } = await plan(await template(nodes, edges), {}, stranger);
    expect(planned.authorFiles).toEqual({ [id]: file });
    expect(
      (await plan(await create(nodes, edges, "author"), {}, { runner: runner({ userId: "author" }) })).plan.authorFiles,
    ).toBeUndefined();

    const schema = { type: "object", properties: { image: { type: "string", format: "media", contentMediaType: "image/*" } } };
    const ready = (image: string): Promise<unknown> => withFiles(clients.media, schema, { image }, "stranger", planned.authorFiles);
    expect(await ready(id)).toEqual({ inputs: { image: url } });
    expect(await ready(other)).toHaveProperty("problem");
    expect(await ready("constructor")).toHaveProperty("problem");
  });

  it("never passes on a file that its author doesn't own", async () => {
    const id = await upload("third");
    const target = await template([{ id: "up", type: "media-upload", data: { mediaId: id } }, out], [["up.media", "out.file"]]);
    for (const userId of ["author", "stranger"])
      await expect(plan(target, {}, { runner: runner({ userId }) })).rejects.toMatchObject({ metadata: { issues: [refusals(id)] } });
    expect((await plan(target, {}, { runner: runner({ userId: "third" }) })).plan.output).toEqual({ file: [{ value: file }] });
  });

  it("never passes on a file of its author that it doesn't name, however the id is sent", async () => {
    const id = await upload("author");
    const note = { id: "note", type: "note", data: { text: id } };
    const fields = await template([photoField(), note, out], [["in.photo", "out.photo"]]);
    await expect(plan(fields, { photo: id }, stranger)).rejects.toMatchObject({
      metadata: { issues: [{ path: "inputs.photo", message: "is not one of your media files" }] },
    });
    const words = { id: "in", type: "request-input", data: { fields: [{ name: "words", type: "text" }] } };
    const texts = await template([words, pic], [["in.words", "pic.image"]]);
    await expect(plan(texts, { words: id }, stranger)).rejects.toMatchObject({ metadata: { issues: [refusals(id)] } });
  });

  it("allows its files only in its own runs", async () => {
    const id = await upload("author");
    const target = await template([{ id: "up", type: "media-upload", data: { mediaId: id } }, out], [["up.media", "out.file"]]);
    await plan(target, {}, stranger);
    const own = await create([{ id: "up", type: "media-upload", data: { mediaId: id } }], [], "stranger");
    await expect(plan(own, {}, stranger)).rejects.toMatchObject({ metadata: { issues: [refusals(id)] } });
    await expect(plan(model("sandbox-image"), { prompt: "x", image: id }, stranger)).rejects.toMatchObject({ reason: "INVALID_INPUTS" });
    await clients.workflows.updateWorkflow(
      workflows.UpdateWorkflowRequest.fromPartial({ slug: target!.value, ownerId: "author", isTemplate: false }),
    );
    await expect(plan(target, {}, stranger)).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
  });
});

describe("a run up to a node", () => {
  const nodes = [
    { id: "in", type: "request-input", data: { fields: [{ name: "who", type: "text", required: true }] } },
    { id: "alone", type: "request-input", data: { fields: [{ name: "other", type: "text", required: true }] } },
    { id: "chat", type: "llm-assistant", data: { model: "sandbox-chat" } },
    { id: "pro", type: "generate-video", data: { model: "sandbox-video-pro" } },
    { id: "out", type: "response-output", data: {} },
  ];
  const edges: [string, string][] = [
    ["in.who", "chat.prompt"],
    ["chat.text", "pro.prompt"],
    ["pro.video", "out.videos"],
  ];
  const steps = ({ plan: planned }: PlannedRun): string[] => planned.steps.map(({ id }) => id);

  it("is validated, priced and held only for the node's dependencies, whatever was planned before", async () => {
    const target = await create(nodes, edges);
    const business = runner({ tier: "business", baseTier: "business" });
    expect(steps(await plan(target, { who: "Ada", other: "x" }, { runner: business }))).toEqual(["chat", "pro"]);
    const part = await plan(target, { who: "Ada" }, { until: "chat", isAsync: true });
    expect([steps(part), part.modelIds, part.holds.length]).toEqual([["chat"], ["sandbox-chat"], 1]);
    expect(part.plan.output).toEqual({});
    await expect(plan(target, { who: "Ada", other: "x" })).rejects.toMatchObject({ reason: "MODEL_TIER_REQUIRED" });
    expect(steps(await plan(target, { who: "Ada", other: "x" }, { runner: business }))).toEqual(["chat", "pro"]);
  });

  it("ignores inputs that only other nodes need, and rejects those that the workflow doesn't know", async () => {
    const target = await create(nodes, edges);
    expect(steps(await plan(target, { who: "Ada", other: 7 }, { until: "chat" }))).toEqual(["chat"]);
    await expect(plan(target, { who: "Ada", othr: "x" }, { until: "chat" })).rejects.toMatchObject({ reason: "INVALID_INPUTS" });
    await expect(plan(target, { other: "x" }, { until: "chat" })).rejects.toMatchObject({ reason: "INVALID_INPUTS" });
  });

  it("names a missing node", async () => {
    await expect(plan(await create(nodes, edges), { who: "Ada" }, { until: "chta" })).rejects.toMatchObject({
      reason: "INVALID_REQUEST",
      metadata: { issues: [{ path: "until", message: expect.stringContaining("chta") as string }] },
    });
  });
});

describe("a node that names a task", () => {
  const picture = (data: Record<string, unknown>) => create([{ id: "pic", type: "generate-image", data }, { id: "out", type: "response-output", data: {} }], [["pic.image", "out.images"]]); // prettier-ignore
  const order = (...names: string[]) => clients.models.setModelOrder({ task: "image", order: names });
  afterEach(() => order());

  it("uses the first ready model of the order, and its plan names it", async () => {
    const target = await picture({ model: "auto:image", inputs: { prompt: "a kite" } });
    await order("sandbox-image-fast");
    expect(await plan(target, {})).toMatchObject({ modelIds: ["sandbox-image-fast"], plan: { steps: [{ model: "sandbox-image-fast" }] } });
    await order("sandbox-image");
    expect((await plan(target, {})).modelIds).toEqual(["sandbox-image"]);
  });

  it("follows the rules of the chosen model", async () => {
    await order("sandbox-image-fast");
    const target = await picture({ model: "auto:image", inputs: { prompt: "a kite" } });
    await expect(plan(target, {}, { isAsync: true })).rejects.toMatchObject({ reason: "ASYNC_NOT_SUPPORTED" });
    const video = await create([{ id: "clip", type: "generate-video", data: { model: "auto:video", inputs: { prompt: "a kite" } } }]);
    expect((await plan(video, {})).modelIds).toEqual(["sandbox-video"]);
    await expect(plan(video, {}, { runner: runner({ tier: "free", baseTier: "free" }) })).rejects.toMatchObject({
      reason: "WORKFLOW_INVALID",
      message: expect.stringMatching(/no model for auto:video is ready: sandbox-video.* needs the (pro|business) tier/) as string,
    });
  });

  it("has a warning for settings that its model doesn't know", async () => {
    const target = await picture({ model: "auto:image", inputs: { prompt: "a kite", ratio: "16:9" } });
    await order("sandbox-image-fast");
    const { plan: planned } = await plan(target, {});
    expect(planned.warnings.pic).toEqual(["auto:image uses sandbox-image-fast, which has no input ratio: the input is ignored"]);
  });

  it.each([
    ["auto:imgae", "there is no task auto:imgae: did you mean auto:image?"],
    ["auto:", "there is no task auto:"],
    ["auto:music", "generates audio, but this node needs a model that generates image"],
  ])("that is unknown, or creates something else, is rejected: %s", async (name, message) => {
    const planningResult = plan(await picture({ model: name, inputs: { prompt: "x" } }), {});
    await expect(planningResult).rejects.toMatchObject({ reason: "WORKFLOW_INVALID", message: expect.stringContaining(message) as string });
  });

  describe("with settings of its own", () => {
    const STANDARD = "sandbox-image";
    const FAST = "sandbox-image-fast";
    const LOCAL = "local-pictures";
    const planned = async (data: Record<string, unknown>) =>
      (await plan(await picture({ inputs: { prompt: "a kite" }, model: "auto:image", ...data }), {})).plan;

    it("uses the cheapest model, an allowed one, or one below its maxCredits, and its plan says why", async () => {
      const cheapest = await planned({ prefer: "cheapest" });
      expect(cheapest).toMatchObject({ steps: [{ model: FAST, maxMillicredits: 600 }] });
      expect(cheapest.routes).toEqual([
        {
          nodeId: "pic",
          chosen: FAST,
          considered: [
            { model: FAST, millicredits: 600, p50Ms: null, errorRate: null, reason: "the cheapest" },
            { model: STANDARD, millicredits: 3_000, p50Ms: null, errorRate: null, reason: "costs more" },
            { model: LOCAL, millicredits: null, p50Ms: null, errorRate: null, reason: expect.stringMatching(/^isn't ready/) as string },
          ],
        },
      ]);
      expect(await planned({})).toMatchObject({ steps: [{ model: STANDARD }], routes: [{ chosen: STANDARD }] });
      expect(await planned({ prefer: "cheapest", allow: [STANDARD] })).toMatchObject({ steps: [{ model: STANDARD }] });
      expect(await planned({ maxCredits: 1 })).toMatchObject({ steps: [{ model: FAST }] });
    });

    it("prices the inputs of the call", async () => {
      const inputs = { prompt: "a kite", count: 4 };
      expect(await planned({ inputs, maxCredits: 11 })).toMatchObject({ steps: [{ model: FAST }] });
      expect(await planned({ inputs, maxCredits: 12 })).toMatchObject({ steps: [{ model: STANDARD }] });
    });

    it("leaves out a model that doesn't accept its inputs", async () => {
      const inputs = { prompt: "a kite", count: 9 };
      await order(STANDARD, FAST);
      const { steps, routes } = await planned({ inputs, prefer: "best" });
      expect(steps[0]!.model).toBe(FAST);
      expect(routes![0]!.considered[1]).toMatchObject({ model: STANDARD, reason: expect.stringContaining("count") as string });
    });

    it("is rejected with a reason for each model if none is left", async () => {
      await expect(planned({ maxCredits: 0.1 })).rejects.toMatchObject({
        reason: "WORKFLOW_INVALID",
        message: expect.stringMatching(
          /no model for auto:image can run: sandbox-image: one call can cost 3 credits, more than maxCredits \(0.1\); sandbox-image-fast: one call can cost 0.6.*Change the node's settings/,
        ) as string,
      });
      await expect(planned({ allow: ["sandbox-music"] })).rejects.toMatchObject({
        message: expect.stringContaining("sandbox-music: isn't an enabled model for auto:image") as string,
      });
      await expect(planned({ prefer: "nicest" })).rejects.toMatchObject({
        message: expect.stringContaining("prefer: must be one of") as string,
      });
    });

    it("keeps the model of an earlier run in a rerun, and chooses for itself in a version with pinned models", async () => {
      const target = await picture({ model: "auto:image", prefer: "cheapest", inputs: { prompt: "a kite" } });
      const rerun = { keptModels: { pic: STANDARD }, names: { nodes: [], reuse: [] } };
      const reuse = (given: RunPlan) => Promise.resolve({ plan: given, reuse: { sources: [], again: [], requests: [] }, free: new Set<string>(), open: new Set<string>(), saved: new Map<string, number>() }); // prettier-ignore
      const again = await planning.plan({ target, runner: runner(), inputsJson: "{}", isAsync: false, rerun: { ...rerun, reuse } });
      expect(again.plan).toMatchObject({
        steps: [{ model: STANDARD }],
        routes: [{ considered: [{ reason: "kept from the earlier run" }, { model: FAST }, { model: LOCAL }] }],
      });
      await clients.workflows.publishVersion({ slug: target!.value, ownerId: "owner", note: "", reference: "", withoutRun: false, unapproved: false, pinsModels: true, pinnedModels: { "auto:image": STANDARD } }); // prettier-ignore
      expect((await planning.plan({ target, version: "1", runner: runner(), inputsJson: "{}", isAsync: false })).modelIds).toEqual([FAST]);
    });
  });

  it("keeps the model from when its version was published with pinned models", async () => {
    const target = await picture({ model: "auto:image", inputs: { prompt: "a kite" } });
    const publish = (pinsModels: boolean, pinnedModels: Record<string, string>) =>
      clients.workflows.publishVersion({
        slug: target!.value,
        ownerId: "owner",
        note: "",
        reference: "",
        withoutRun: false,
        unapproved: false,
        pinsModels,
        pinnedModels,
      });
    const version = (versionName: string) =>
      planning.plan({ target, version: versionName, runner: runner(), inputsJson: "{}", isAsync: false });
    await order("sandbox-image");
    await publish(true, { "auto:image": "sandbox-image", "auto:music": "sandbox-music" });
    await publish(false, {});
    await order("sandbox-image-fast");
    expect((await version("1")).modelIds).toEqual(["sandbox-image"]);
    expect((await version("2")).modelIds).toEqual(["sandbox-image-fast"]);
    expect((await version("draft")).modelIds).toEqual(["sandbox-image-fast"]);
    await expect(publish(true, {})).rejects.toMatchObject({ reason: "WORKFLOW_INVALID" });
    const { version: stored } = await clients.workflows.getVersion({ slug: target!.value, ownerId: "owner", version: 1 });
    expect(stored!.pinnedModels).toEqual({ "auto:image": "sandbox-image" });
  });
});

describe("inner workflows", () => {
  const slugOf = (target: Target): string => target!.value;
  const inner = (target: Target, more: object = {}) => ({ id: "inner", type: "workflow", data: { slug: slugOf(target), ...more } });
  const out = { id: "out", type: "response-output", data: {} };
  const saying = (text: string, ownerId = "owner", isTemplate = false): Promise<Target> =>
    create([{ id: "box", type: "text-box", data: { text } }, out], [["box.text", "out.text"]], ownerId, isTemplate);
  const around = (target: Target, ownerId = "owner", isTemplate = false, more: object = {}): Promise<Target> =>
    create([inner(target, more), out], [["inner.text", "out.text"]], ownerId, isTemplate);
  const save = (target: Target, nodes: unknown[]) =>
    clients.workflows.updateWorkflow(
      workflows.UpdateWorkflowRequest.fromPartial({ slug: slugOf(target), ownerId: "owner", nodesJson: JSON.stringify(nodes) }),
    );
  const invalid = (message: string) => ({ reason: "WORKFLOW_INVALID", metadata: { issues: [{ nodeId: expect.any(String), message }] } });

  it("plans them as part of the run, and stores their versions", async () => {
    const innerSlug = await saying("hello");
    const target = await around(innerSlug);
    const { plan: drafted } = await plan(target, {});
    expect(drafted.output).toEqual({ text: [{ value: "hello" }] });
    const [first] = drafted.inlined!;
    expect(first).toEqual({ nodeId: "inner", slug: slugOf(innerSlug), contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await clients.workflows.publishVersion(workflows.PublishVersionRequest.fromPartial({ slug: slugOf(innerSlug), ownerId: "owner" }));
    await save(innerSlug, [{ id: "box", type: "text-box", data: { text: "changed" } }, out]);
    const { plan: published } = await plan(target, {});
    expect(published).toMatchObject({ output: { text: [{ value: "hello" }] }, inlined: [{ ...first, version: 1 }] });
    const { plan: draft } = await plan(await around(innerSlug, "owner", false, { version: "draft" }), {});
    expect(draft.output).toEqual({ text: [{ value: "changed" }] });
    expect(draft.inlined![0]!.contentHash).not.toBe(first!.contentHash);
  });

  it("plans them for hooks, schedules and apps as approved by a caller who can run them", async () => {
    const innerSlug = await saying("hello");
    const target = await around(innerSlug);
    const changed = JSON.stringify([{ id: "box", type: "text-box", data: { text: "changed" } }, out]);
    const change = { slug: slugOf(innerSlug), ownerId: "owner", nodesJson: changed, withoutRun: true };
    await clients.workflows.updateWorkflow(workflows.UpdateWorkflowRequest.fromPartial(change));
    const planned = (version: string) => planning.plan({ target, version, runner: runner(), inputsJson: "{}", isAsync: false });
    const texts = await Promise.all(["", "approved"].map(async (version) => (await planned(version)).plan.output));
    expect(texts).toEqual([{ text: [{ value: "changed" }] }, { text: [{ value: "hello" }] }]);
    await clients.workflows.approveGraph({ slug: slugOf(innerSlug), ownerId: "owner" });
    expect((await planned("approved")).plan.output).toEqual({ text: [{ value: "changed" }] });
  });

  it("plans drafts behind versions, which their nodes name, as approved by such a caller", async () => {
    const innerSlug = await saying("hello");
    await clients.workflows.publishVersion(workflows.PublishVersionRequest.fromPartial({ slug: slugOf(innerSlug), ownerId: "owner" }));
    const target = await around(await around(innerSlug, "owner", false, { version: "draft" }));
    const nodesJson = JSON.stringify([{ id: "box", type: "text-box", data: { text: "changed" } }, out]);
    const change = { slug: slugOf(innerSlug), ownerId: "owner", nodesJson, withoutRun: true };
    await clients.workflows.updateWorkflow(workflows.UpdateWorkflowRequest.fromPartial(change));
    const planned = (version: string) => planning.plan({ target, version, runner: runner(), inputsJson: "{}", isAsync: false });
    const texts = await Promise.all(["", "approved"].map(async (version) => (await planned(version)).plan.output));
    expect(texts).toEqual([{ text: [{ value: "changed" }] }, { text: [{ value: "hello" }] }]);
    await clients.workflows.approveGraph({ slug: slugOf(innerSlug), ownerId: "owner" });
    expect((await planned("approved")).plan.output).toEqual({ text: [{ value: "changed" }] });
  });

  it("plans items of a batch as of the batch's creation, with its drafts and versions", async () => {
    const [draft, published] = await Promise.all([saying("draft"), saying("published")]);
    const publish = () =>
      clients.workflows.publishVersion(workflows.PublishVersionRequest.fromPartial({ slug: slugOf(published), ownerId: "owner" }));
    await publish();
    const nodes = [inner(draft), { ...inner(published), id: "other" }, out];
    const edges: [string, string][] = [
      ["inner.text", "out.text"],
      ["other.text", "out.text"],
    ];
    const target = await create(nodes, edges);
    const planned = async (pinned?: PinnedGraphs) =>
      planning.plan({ target, version: "", runner: runner(), inputsJson: "{}", isAsync: false, pinned });
    const ordered = await planned();
    const change = (text: string) => [{ id: "box", type: "text-box", data: { text } }, out];
    for (const one of [draft, published]) await save(one, change("changed"));
    await publish();
    const others = await planned();
    await save(target, change("all of it"));
    const keptPins = JSON.parse(JSON.stringify(ordered.pinned)) as PinnedGraphs;
    expect((await planned(keptPins)).plan.output).toEqual(ordered.plan.output);
    expect(others.plan.output).not.toEqual(ordered.plan.output);
    await clients.workflows.deleteWorkflow({ slug: slugOf(draft), ownerId: "owner" });
    // Another object, as after the second for which lookups are shared.
    await expect(planned(structuredClone(keptPins))).rejects.toMatchObject(invalid(`there is no workflow ${slugOf(draft)}`));
  });

  it("looks up the workflows of a batch once for many items, and again after a second", async () => {
    const nested = await around(await saying("deep"));
    const target = await create([inner(nested), { ...inner(await saying("wide")), id: "other" }, out], [["inner.text", "out.text"], ["other.text", "out.text"]]); // prettier-ignore
    const reading = jest.fn(clients.workflows.getDefinition);
    const counted = createPlanning({
      urls: createMediaUrls("https://platform.test"),
      workflows: { getDefinition: reading },
      media: clients.media,
      requirePrograms: () => Promise.resolve(),
      requireSecrets: () => Promise.resolve(),
      catalog: createModelCatalog(clients.models),
      measure: notMeasured,
      planner: planInProcess(),
    });
    const planned = (pinned?: PinnedGraphs) =>
      counted.plan({
        target,
        version: "",
        runner: runner(),
        inputsJson: "{}",
        isAsync: false,
        pinned,
      });
    const { pinned, plan: first } = await planned();
    reading.mockClear();
    const plans = await Promise.all(Array.from({ length: 50 }, () => planned(pinned)));
    expect(reading.mock.calls.map(([{ slug }]) => slug)).toHaveLength(4);
    for (const { plan: one } of plans) expect(one.output).toEqual(first.output);
    const now = jest.spyOn(Date, "now").mockReturnValue(Date.now() + TIMING.batchRunner + 1);
    await clients.workflows.deleteWorkflow({ slug: slugOf(nested), ownerId: "owner" });
    await expect(planned(pinned).finally(() => now.mockRestore())).rejects.toMatchObject(invalid(`there is no workflow ${slugOf(nested)}`));
  });

  it("accepts the runner's own workflows and templates, and nothing else", async () => {
    const [theirs, template] = await Promise.all([saying("theirs", "author"), saying("shared", "author", true)]);
    await expect(plan(await around(theirs), {})).rejects.toMatchObject(invalid(`there is no workflow ${slugOf(theirs)}`));
    expect((await plan(await around(template), {})).plan.output).toEqual({ text: [{ value: "shared" }] });
    const versioned = await around(template, "owner", false, { version: 7 });
    await expect(plan(versioned, {})).rejects.toMatchObject(invalid(`there is no workflow ${slugOf(template)} (version 7)`));
  });

  it("resolves the nodes of a template for its owner, and hides their outputs", async () => {
    const template = await around(await saying("the author's own", "author"), "author", true);
    const { plan: planned } = await plan(template, {});
    expect(planned.output).toEqual({ text: [{ value: "the author's own" }] });
    expect(planned.hidesOutputs).toBe(true);
    expect(JSON.stringify(planned.evaluated)).not.toContain("author's own");
    expect((await plan(await around(template), {})).plan.output).toEqual({ text: [{ value: "the author's own" }] });
  });

  it("rejects circles and excessive depth, and names the path", async () => {
    const innerSlug = await saying("hello");
    const outer = await around(innerSlug);
    await save(innerSlug, [inner(outer), out]);
    const circle = `the workflow contains itself: ${[outer, innerSlug, outer].map(slugOf).join(" → ")}`;
    await expect(plan(outer, {})).rejects.toMatchObject(invalid(circle));
    let deep = await saying("deep");
    const way = [deep];
    for (let level = 0; level < 5; level += 1) way.unshift((deep = await around(deep)));
    expect((await plan(deep, {})).plan.output).toEqual({ text: [{ value: "deep" }] });
    const deeper = await around(deep);
    const message = `workflows are nested more than 5 levels deep: ${[deeper, ...way].map(slugOf).join(" → ")}`;
    await expect(plan(deeper, {})).rejects.toMatchObject(invalid(message));
  });

  it("passes its files to the nodes of a template inside the caller's own workflow, and to no others", async () => {
    const id = await upload("author");
    const edit = { id: "pic", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x", image: id } } };
    const template = await create([edit, out], [["pic.image", "out.images"]], "author", true);
    const { plan: planned } = await plan(await create([inner(template), out], [["inner.images", "out.images"]]), {});
    expect(planned).toMatchObject({
      steps: [{ id: "inner/pic", literals: { image: expect.stringContaining("http") as string } }],
      hidesOutputs: true,
    });
    const ownNode = { id: "own", type: "generate-image", data: edit.data };
    const mixed = await create([inner(template), ownNode, out], [["inner.images", "out.images"]]);
    await expect(plan(mixed, {})).rejects.toMatchObject({ reason: "WORKFLOW_INVALID" });
  });

  it("runs to an inner node, and prices only its dependencies", async () => {
    const pair = await create([
      { id: "one", type: "generate-image", data: { model: "sandbox-image-fast", inputs: { prompt: "x" } } },
      { id: "two", type: "generate-video", data: { model: "sandbox-video", inputs: { prompt: "x" } } },
    ]);
    const target = await create([inner(pair)]);
    expect((await plan(target, {}, { until: "inner/one" })).holds.map(({ key }) => key)).toEqual(["inner/one:0"]);
    expect((await plan(target, {}, { until: "inner" })).holds.map(({ key }) => key)).toEqual(["inner/one:0", "inner/two:0"]);
    await expect(plan(target, {}, { until: "inner/three" })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });
});

it("uses administrators' fallback models that the runner can run, in workflows and directly", async () => {
  const set = (names: string[]) =>
    clients.models.updateModel({
      internalName: "sandbox-image",
      ...{ enabled: undefined, price: undefined, minTier: undefined },
      fallback: { models: names },
    });
  const placesOf = ({ plan: planned }: PlannedRun): string[] => (planned.steps[0]!.fallback ?? []).map((one) => one.model);
  const able = runner({ capabilities: ["model:sandbox-image-fast:run"] });
  const target = await create([{ id: "pic", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } }]);
  await set(["sandbox-image-fast"]);
  try {
    const directly = (options: object) => plan(model("sandbox-image"), { prompt: "x" }, options);
    expect(placesOf(await directly({ runner: able }))).toEqual(["sandbox-image-fast"]);
    expect(placesOf(await directly({ runner: runner({ capabilities: ["model:sandbox-image:run"] }) }))).toEqual([]);
    expect(placesOf(await directly({ runner: able, isAsync: true }))).toEqual([]);
    const inWorkflow = await plan(target, {});
    expect(placesOf(inWorkflow)).toEqual(["sandbox-image-fast"]);
    expect(inWorkflow.modelIds).toEqual(["sandbox-image"]);
  } finally {
    await set([]);
  }
  expect(placesOf(await plan(target, {}))).toEqual([]);
});

it("plans the other items of a batch on what the first one read of the workflow", async () => {
  const fields = [{ name: "subject", type: "text" }];
  const target = await create(
    [{ id: "in", type: "request-input", data: { fields } }, { id: "t", type: "text-box", data: { text: "{{s}} ok" } }, { id: "out", type: "response-output", data: {} }],
    [["in.subject", "t.s"], ["t.text", "out.text"]],
  ); // prettier-ignore
  const first = await plan(target, { subject: "a" });
  await clients.workflows.deleteWorkflow({ slug: target!.value, ownerId: "owner" });
  const { definition, pinned } = first;
  const second = await planning.plan({ target, runner: runner(), inputsJson: '{"subject":"b"}', isAsync: false, definition, pinned });
  expect(second.plan.output.text).toEqual([{ value: "b ok" }]);
  await expect(plan(target, { subject: "c" })).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
});
