import { clientOf, eventually, paced, type Account, type Answer } from "../../../test-support/client";
import { startComfyUi } from "../../../test-support/comfyui";
import { clip, edge, node } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;

beforeAll(async () => {
  platform = await startPlatform();
  client = clientOf(platform);
  user = await client.account({ tier: "business" });
});
afterAll(() => platform.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  client.call("POST", path, { key: user.key, body, headers });
const finished = (id: string): Promise<Answer> =>
  eventually(
    () => client.call("GET", `/api/executions/${id}`, { key: user.key }),
    ({ body }) => ["completed", "failed", "cancelled"].includes(body.status as string),
  );
const faults = (settings: object): Promise<Response> =>
  platform.sandboxControl("/sandbox/faults", { method: "POST", body: JSON.stringify(settings) });

describe("a busy provider", () => {
  let slug: string;
  beforeAll(async () => {
    slug = ((await post("/api/workflows", clip({ latencyMs: 50 }))).body as unknown as { slug: string }).slug;
  });
  afterEach(() => faults({}));

  it("is awaited by jobs and text models, and the run completes", async () => {
    await paced(async (seconds) => {
      const busyUntil = Date.now() + seconds * 1_000;
      await faults({ busyMs: seconds * 1_000 });
      const text = post("/api/models/sandbox-chat/run", { inputs: { prompt: "a loom" } });
      const started = await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
      const inTime = Date.now() < busyUntil;
      if (inTime) expect(started).toMatchObject({ status: 202, body: { requestId: null, status: "processing" } });
      const endedRun = await finished(started.body.executionId as string);
      expect(endedRun.body).toMatchObject({ status: "completed", requestId: expect.any(String) as string });
      expect(await text).toMatchObject({ status: 200, body: { success: true } });
      return inTime;
    });
  });

  it("is awaited only as long as the caller wants", async () => {
    await faults({ busyMs: 30_000 });
    const { body } = await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
    const id = body.executionId as string;
    expect((await post(`/api/executions/${id}/cancel`, {})).body).toEqual({ status: "cancel_requested" });
    expect((await finished(id)).body).toMatchObject({ status: "cancelled", requestId: null });
  });

  it("is awaited only up to a submission's limit", async () => {
    await faults({ busyMs: 600_000 });
    // The run is accepted if the provider answers after the submission's wait; then it is repeated.
    const answer = await eventually(
      () => post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }),
      ({ status }) => status !== 202,
    );
    expect(answer).toMatchObject({ status: 500, body: { code: "PROVIDER_SUBMIT_FAILED", providerStatus: 429 } });
  });
});

describe("a batch whose provider fails for 20 seconds", () => {
  const OUTAGE_MS = 20_000;
  const TOTAL = 50;
  const AT_ONCE = 4;
  afterEach(() => faults({}));

  interface Batch {
    status: string;
    reason: { code: string; message: string } | null;
    counts: Record<string, number>;
    creditsCost: number;
    rows: { status: string; creditsCost: number }[];
  }

  it("waits and says why, continues on its own, and loses a handful of items", async () => {
    const inputs = Array.from({ length: TOTAL }, (_, index) => ({ prompt: `loom ${index}` }));
    await faults({ errorRate: 1 });
    const back = setTimeout(() => void faults({}), OUTAGE_MS);
    try {
      const { body } = await post("/api/models/sandbox-image/batches", { inputs, concurrency: AT_ONCE });
      const read = async (): Promise<Batch> =>
        (await client.call("GET", `/api/batches/${body.batchId as string}?limit=${TOTAL}`, { key: user.key })).body as unknown as Batch;
      const waiting = await eventually(read, ({ reason }) => reason !== null);
      expect(waiting).toMatchObject({
        ...{ status: "running", counts: { completed: 0 } },
        reason: { code: "PROVIDER_UNAVAILABLE", message: "waiting for sandbox-image: provider unavailable" },
      });
      const finalBatch = await eventually(read, ({ status }) => status !== "running");
      const { failed = 0, completed = 0 } = finalBatch.counts;
      expect(finalBatch).toMatchObject({ status: "completed", reason: null });
      expect(failed).toBeGreaterThanOrEqual(AT_ONCE);
      expect(failed).toBeLessThanOrEqual(2 * AT_ONCE);
      expect(completed).toBe(TOTAL - failed);
      expect(finalBatch.rows.filter(({ status, creditsCost }) => status === "failed" && creditsCost > 0)).toEqual([]);
      const costs = finalBatch.rows.reduce((sum, { creditsCost }) => sum + creditsCost, 0);
      expect(finalBatch.creditsCost).toBeCloseTo(costs, 6);
    } finally {
      clearTimeout(back);
    }
  });
});

interface StreamedEvent {
  id: string | undefined;
  type: string;
  data: { text?: string; reset?: true; nodeId?: string; percent?: number; image?: string };
}

const eventOf = (block: string): StreamedEvent | undefined => {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const type = field("event");
  return type === undefined ? undefined : { id: field("id"), type, data: (JSON.parse(field("data")!) as { data: object }).data };
};

/** Follows an execution to its end. */
const follow = async (id: string): Promise<StreamedEvent[]> => {
  const { text } = await client.call("GET", `/api/executions/${id}/events`, { key: user.key });
  return text.split("\n\n").flatMap((block) => eventOf(block) ?? []);
};
/** Passes on the events of an execution as they arrive, until its end. */
const listen = async (id: string, onEvent: (event: StreamedEvent) => void): Promise<void> => {
  const response = await fetch(`${platform.baseUrl}/api/executions/${id}/events`, { headers: { "x-api-key": user.key! } });
  let waitingText = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (waitingText + text).split("\n\n");
    waitingText = blocks.pop()!;
    for (const event of blocks.flatMap((block) => eventOf(block) ?? [])) onEvent(event);
  }
};
const textOf = (events: StreamedEvent[]): string =>
  events.filter(({ type }) => type === "node.delta").reduce((text, { data }) => (data.reset ? "" : text) + data.text!, "");

interface WrittenText {
  id: string;
  /** Events of a client that follows from the start, and of a late one. */
  events: StreamedEvent[];
  late: StreamedEvent[];
  text: string;
}
const writeText = async (latencyMs: number): Promise<WrittenText> => {
  const inputs = { prompt: "Describe a lighthouse on a windy coast", sandbox: { latencyMs } };
  const { status, headers } = await post("/api/models/sandbox-chat/run", { inputs }, { prefer: "wait=0" });
  expect(status).toBe(202);
  const id = headers.get("x-execution-id")!;
  const early = follow(id);
  await new Promise((resolve) => setTimeout(resolve, 0.75 * latencyMs));
  const late = follow(id);
  const { text } = (await finished(id)).body.result as unknown as { text: string };
  return { id, events: await early, late: await late, text };
};

describe("a text that is written slowly", () => {
  it("can be followed piece by piece, also by a late client, and is stored only as a whole", async () => {
    let writing: WrittenText;
    // If the machine stalls, there are fewer pieces, and the second client can start after the end.
    await paced(async (seconds) => {
      writing = await writeText(seconds * 1_200);
      const pieces = (events: StreamedEvent[]): number => events.filter(({ type }) => type === "node.delta").length;
      return pieces(writing.events) > 2 && pieces(writing.late) > 0;
    });
    const { id, events, late, text } = writing!;
    const deltas = events.filter(({ type }) => type === "node.delta");
    expect(deltas.every((delta) => delta.id === undefined)).toBe(true);
    const log = events.filter(({ type }) => type !== "node.delta");
    expect(log.map((event) => event.id)).toEqual(log.map((_, index) => String(index + 1)));
    const at = (type: string): number => events.findIndex((event) => event.type === type);
    expect(at("node.delta")).toBeGreaterThan(at("node.started"));
    expect(events.findLastIndex(({ type }) => type === "node.delta")).toBeLessThan(at("node.completed"));
    expect([textOf(events), textOf(late)]).toEqual([text, text]);
    expect((await follow(id)).map(({ type }) => type)).toEqual(log.map(({ type }) => type));
  });
});

describe("a model server of the installation", () => {
  /** Adds a server as an administrator. */
  const add = async (server: object): Promise<void> => {
    expect(await client.asAdmin("POST", "/api/admin/model-servers", server)).toMatchObject({ status: 201, body: { status: "ready" } });
  };
  const ready = (model: string): Promise<Answer> =>
    eventually(
      () => client.call("GET", `/api/models/${model}`, { key: user.key }),
      ({ body }) => body.status === "ready",
    );

  it("with OpenAI's API writes text in workflows, using the key that it was added with", async () => {
    await add({ kind: "openai", url: `${platform.sandboxUrl}/v1`, name: "Home", key: "sandbox" });
    expect((await ready("home-sandbox-chat")).body).toMatchObject({ runsAt: "local", modality: "text" });
    const nodes = [node("ask", "llm-assistant", { model: "home-sandbox-chat", prompt: "a loom" }), node("out", "response-output")];
    const { slug } = (await post("/api/workflows", { name: "Ask", nodes, edges: [edge("ask.text", "out.text")] })).body as { slug: string };
    const reply = await post(`/api/workflows/${slug}/run`, { inputs: {} });
    expect(reply).toMatchObject({ status: 200, body: { result: { text: expect.stringContaining("loom") as string }, cost: 0 } });
  });

  it("with ComfyUI runs a workflow with a stored picture, and its output is stored", async () => {
    const comfy = await startComfyUi();
    try {
      await add({ kind: "comfyui", url: `http://${comfy.address}`, name: "Studio" });
      const workflow = {
        "6": { class_type: "CLIPTextEncode", inputs: { text: "a loom", clip: ["4", 1] }, _meta: { title: "Prompt" } },
        "9": { class_type: "SaveImage", inputs: { filename_prefix: "ComfyUI", images: ["8", 0] }, _meta: { title: "Save Image" } },
        "10": { class_type: "LoadImage", inputs: { image: "a.png" }, _meta: { title: "Face" } },
      };
      const reply = await client.asAdmin("POST", "/api/admin/model-servers/studio/workflows", { name: "Portrait", workflow });
      expect(reply).toMatchObject({ status: 201, body: { workflows: [{ internalName: "studio-portrait", inputs: ["prompt", "face"] }] } });
      await ready("studio-portrait");
      const picture = await post("/api/models/sandbox-image-fast/run", { inputs: { prompt: "a face", sandbox: { latencyMs: 20 } } });
      const face = (picture.body.result as { images: { url: string }[] }).images[0]!.url;
      const bytes = Buffer.from(await (await fetch(face)).arrayBuffer());
      const { status, headers } = await post(
        "/api/models/studio-portrait/run",
        { inputs: { prompt: "a heron", face } },
        { prefer: "wait=0" },
      );
      expect(status).toBe(202);
      const id = headers.get("x-execution-id")!;
      const previews: StreamedEvent[] = [];
      const following = listen(id, (event) => event.type === "node.preview" && previews.push(event));
      const { workflow: sentWorkflow } = (await eventually(
        () => Promise.resolve(comfy.running),
        (running) => running !== undefined,
      ))!;
      expect(sentWorkflow["6"]!.inputs.text).toBe("a heron");
      expect([...comfy.files.values()]).toEqual([bytes]);
      await eventually(
        () => Promise.resolve(comfy.sockets.size),
        (sockets) => sockets === 1,
      );
      comfy.send({ type: "progress", data: { value: 5, max: 20, prompt_id: comfy.running!.id, node: "3" } });
      const unfinished = Buffer.from("an unfinished picture");
      comfy.sendPreview(2, unfinished);
      comfy.files.set("filename=a.png&subfolder=&type=output", bytes);
      await eventually(
        () => Promise.resolve(previews),
        (events) => events.some(({ data }) => data.image !== undefined),
      );
      comfy.end({ outputs: { "9": { images: [{ filename: "a.png", subfolder: "", type: "output" }] } } });
      const { body } = await finished(id);
      expect([body.status, body.creditsCost]).toEqual(["completed", 0]);
      await following;
      const newest = Object.assign({}, ...previews.map(({ data }) => data)) as object;
      expect(newest).toMatchObject({ percent: 25, image: `data:image/png;base64,${unfinished.toString("base64")}` });
      expect(previews.map((preview) => preview.id)).toEqual(previews.map(() => undefined));
      expect((await follow(id)).map(({ type }) => type)).not.toContain("node.preview");
      const [{ url }] = (body.result as { images: [{ url: string }] }).images;
      expect(
        Buffer.from(await (await fetch(url)).arrayBuffer())
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
    } finally {
      await comfy.stop();
    }
  });
});
