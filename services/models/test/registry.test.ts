import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInputCheck } from "@nodeloom/kernel";
import { loadRegistry } from "../src/registry";
import { tasksOf } from "../src/tasks";

const SHIPPED = join(__dirname, "..", "registry");
const ENV = { SANDBOX_URL: "http://127.0.0.1:8090/" };

type Json = Record<string, unknown>;
let base: Json;
let folder: string;

beforeAll(async () => {
  base = JSON.parse(await readFile(join(SHIPPED, "sandbox-video.json"), "utf8")) as Json;
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-registry-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (content: Json | string, name = "sandbox-video.json"): Promise<void> =>
  writeFile(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));

/** The base entry with one member changed, by a dotted path; undefined removes it. */
const changed = (path: string, value: unknown): Json => {
  const copy = structuredClone(base);
  const names = path.split(".");
  const last = names.pop()!;
  const parent = names.reduce((node, name) => node[name] as Json, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
};

describe("the shipped registry", () => {
  it("has the sandbox models at their prices", async () => {
    const { models } = await loadRegistry(SHIPPED, ENV);
    const rows = [...models.values()]
      .filter((model) => model.sandbox)
      .map(({ internalName, modality, provider, price, minTier, trialRuns }) => [
        internalName,
        modality,
        provider.kind,
        price,
        minTier,
        trialRuns,
      ]);
    expect(rows).toEqual([
      ["sandbox-3d", "model3d", "http-polling", { basis: "run", microUsd: 30_000 }, "free", 0],
      [
        "sandbox-chat",
        "text",
        "llm",
        { basis: "tokens", inputMicroUsdPerMillion: 500_000, outputMicroUsdPerMillion: 1_500_000 },
        "free",
        0,
      ],
      ["sandbox-image-fast", "image", "inference-platform", { basis: expect.any(String) as string, microUsd: 4_000 }, "free", 0],
      ["sandbox-image", "image", "http-polling", { basis: "image", microUsd: 20_000 }, "free", 3],
      ["sandbox-music", "audio", "http-polling", { basis: "run", microUsd: 30_000 }, "pro", 0],
      ["sandbox-speech", "audio", "inference-platform", { basis: "run", microUsd: 10_000 }, "free", 0],
      ["sandbox-vector", "image", "inference-platform", { basis: "image", microUsd: 10_000 }, "free", 0],
      ["sandbox-video-pro", "video", "http-polling", { basis: "second", microUsd: 200_000 }, "business", 0],
      ["sandbox-video", "video", "http-polling", { basis: "second", microUsd: 50_000 }, "pro", 0],
    ]);
  });

  it("has local models, free for all users, if their service is configured", async () => {
    const { models } = await loadRegistry(SHIPPED, { ...ENV, INFERENCE_URL: "http://127.0.0.1:8091" });
    const local = [...models.values()].filter(({ runsAt }) => runsAt === "local");
    expect(local.map(({ internalName }) => internalName)).toEqual(
      [
        "chat",
        "cutout",
        "embeddings",
        "languages",
        "music",
        "ocr",
        "pictures",
        "restore",
        "speech",
        "transcribe",
        "tween",
        "upscale",
        "voices",
      ].map((name) => `local-${name}`),
    );
    for (const { price, minTier, missing, provider } of local) {
      const { basis: _, ...amounts } = price!;
      expect([Object.values(amounts).every((amount) => amount === 0), minTier, missing]).toEqual([true, "free", []]);
      expect(provider.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:8091/);
    }
    expect((await loadRegistry(SHIPPED, ENV)).models.get("local-chat")!.missing).toEqual(["INFERENCE_URL"]);
  });

  it("states for its models the tasks of auto:<task>", async () => {
    const { models } = await loadRegistry(SHIPPED, ENV);
    const doing = (name: string): string[] => tasksOf(models.get(name)!);
    expect(
      Object.fromEntries(
        [
          "eleven-v3",
          "eleven-music",
          "eleven-sound-effects",
          "birefnet",
          "topaz-upscale",
          "latentsync",
          "hunyuan3d-2",
          "sandbox-3d",
          "recraft-4-1-vector",
          "recraft-vectorize",
          "gpt-transcribe",
          "veo-3-1",
          "runway-gpt-image-2",
        ].map((name) => [name, doing(name)]),
      ),
    ).toEqual({
      "eleven-v3": ["speech"],
      "eleven-music": ["music"],
      "eleven-sound-effects": [],
      birefnet: ["cutout"],
      "topaz-upscale": ["upscale"],
      latentsync: [],
      "hunyuan3d-2": ["image-to-3d"],
      "sandbox-3d": ["3d", "image-to-3d"],
      "recraft-4-1-vector": ["vector"],
      "recraft-vectorize": [],
      "gpt-transcribe": ["transcribe"],
      "veo-3-1": ["video"],
      "runway-gpt-image-2": ["image", "edit"],
    });
  });

  it("resolves the provider's address from the environment", async () => {
    const { models } = await loadRegistry(SHIPPED, ENV);
    expect(models.get("sandbox-image")!.provider.baseUrl).toBe("http://127.0.0.1:8090");
    expect(models.get("sandbox-chat")!.provider.baseUrl).toBe("http://127.0.0.1:8090/v1");
  });

  it("accepts tools, and tool turns, only for models that call tools", async () => {
    const { models } = await loadRegistry(SHIPPED, ENV);
    const takers = [...models.values()]
      .filter(({ inputSchema }) => "tools" in inputSchema.properties)
      .map(({ internalName }) => internalName);
    expect(takers).toEqual(expect.arrayContaining(["sandbox-chat", "gpt-6-luna", "claude-sonnet-5-5", "gemini-3-8-flash"]));
    expect(takers).not.toContain("local-chat");
    const check = createInputCheck(models.get("sandbox-chat")!.inputSchema);
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" }, strict: true } }];
    const call = { id: "a", type: "function", function: { name: "weather", arguments: "{}" } };
    const steps = [
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", content: "wet", tool_call_id: "a" },
    ];
    expect(check({ prompt: "Rain?", history: steps, steps, tools, tool_choice: "required", parallel_tool_calls: false })).toEqual([]);
    expect(check({ prompt: "Rain?", tools: [{ type: "retrieval" }] })).not.toEqual([]);
    expect(check({ prompt: "Rain?", tools, tool_choice: "any" })).not.toEqual([]);
  });

  it("reports the reason why a model can't run", async () => {
    const { models } = await loadRegistry(SHIPPED, { FAL_KEY: "set" });
    const missing = Object.fromEntries([...models.values()].map((model) => [model.internalName, model.missing]));
    expect(missing).toMatchObject({
      "sandbox-image": ["SANDBOX_URL"],
      "flux-schnell": [],
      "replicate-flux-schnell": ["REPLICATE_API_TOKEN"],
      "kling-3": ["KLING_API_KEY"],
      "dashscope-wan-3": ["DASHSCOPE_URL", "DASHSCOPE_API_KEY"],
      "gpt-6-luna": ["OPENAI_API_KEY"],
      "gpt-image-2": ["OPENAI_API_KEY"],
      "runway-gen4-turbo": ["RUNWAYML_API_SECRET"],
      "eleven-multilingual-v2": ["ELEVENLABS_API_KEY"],
    });
  });

  it("never contains the value of a secret", async () => {
    const { models } = await loadRegistry(SHIPPED, { ...ENV, FAL_KEY: "fal-secret-value" });
    expect(JSON.stringify([...models.values()])).not.toContain("fal-secret-value");
  });

  it("has a version that changes with its environment", async () => {
    const [first, again, other] = [
      await loadRegistry(SHIPPED, ENV),
      await loadRegistry(SHIPPED, ENV),
      await loadRegistry(SHIPPED, { ...ENV, FAL_KEY: "x" }),
    ];
    expect(first.version).toBe(again.version);
    expect(first.version).not.toBe(other.version);
  });
});

describe("a file that can't be used", () => {
  it.each<[string, () => Json | string, RegExp]>([
    ["is no JSON", () => "{ nope", /is not JSON/],
    ["has an unknown member", () => changed("colour", "red"), /colour/],
    ["lacks a price", () => changed("price", undefined), /price/],
    ["mixes two prices", () => changed("price", { perRunUsd: 1, perSecondUsd: 1 }), /price/],
    ["has a negative price", () => changed("price", { perSecondUsd: -1 }), /price/],
    ["has a price finer than a micro-dollar", () => changed("price", { perSecondUsd: 0.000_000_1 }), /price/],
    [
      "counts characters of a prompt that may have any number",
      () => ({ ...changed("inputSchema.properties.prompt", { type: "string" }), price: { perThousandCharactersUsd: 0.1 } }),
      /price: .*characters.*"prompt"/,
    ],
    ...(
      [
        ["has a table without a last row for the rest", { table: [{ when: { seed: 1 }, perRunUsd: 1 }] }, /table: its last row/],
        [
          "has a row that is never reached",
          { table: [{ perRunUsd: 1 }, { when: { seconds: 2 }, perRunUsd: 1 }, { perRunUsd: 2 }] },
          /table\/1 is never reached/,
        ],
        [
          "prices by an input that it doesn't have",
          { table: [{ when: { colour: "red" }, perRunUsd: 1 }, { perRunUsd: 2 }] },
          /there is no input "colour"/,
        ],
        [
          "prices by an input that the provider chooses where it is left out",
          { table: [{ when: { seed: 1 }, perRunUsd: 1 }, { perRunUsd: 2 }] },
          /table\/0\/when\/seed: .*default/,
        ],
        [
          "prices by a value that an input never has",
          { table: [{ when: { seconds: "two" }, perRunUsd: 1 }, { perRunUsd: 2 }] },
          /the input "seconds" is never "two"/,
        ],
        ["has a row of two prices", { table: [{ perRunUsd: 1, perSecondUsd: 1 }] }, /price\.table\.0: must have one price/],
        ["has a row with a misspelt member", { table: [{ if: {}, perRunUsd: 1 }] }, /"if"/],
        ["counts megapixels without saying of what", { perMegapixelUsd: 0.003 }, /says what input has the size/],
        [
          "counts megapixels of an input that lists no sizes",
          { perMegapixelUsd: 0.003, megapixels: { size: "prompt" } },
          /must list its sizes/,
        ],
        ["settles by a pointer that is none", { perRunUsd: 1, actual: [{ at: "usage", eachUsd: 1 }] }, /JSON pointer/],
      ] as const
    ).map(([what, price, problem]): [string, () => Json, RegExp] => [what, () => changed("price", price), problem]),
    [
      "names an input in its body that the model does not have",
      () => changed("provider.submit.body.options", { list: [{ style: { $input: "stlye" } }] }),
      /provider\.submit\.body\.options\.list\.0\.style: there is no input "stlye"/,
    ],
    [
      "names one inside a text",
      () => changed("provider.submit.path", "/v1/jobs/${voice}"),
      /provider\.submit\.path: there is no input "voice"/,
    ],
    [
      "has a default of an input that it doesn't have",
      () => changed("provider.defaults", { voice: "x" }),
      /provider\.defaults\.voice: there is no input "voice"/,
    ],
    ["never says that a job has failed", () => changed("provider.poll.failed", undefined), /provider\.poll\.failed/],
    ["is polled nowhere", () => changed("provider.poll.path", undefined), /the url's place/],
    ["has a host of its own that is an address", () => changed("provider.pollHosts", ["https://x.example"]), /host's name/],
    [
      "streams files into a request without a form",
      () => changed("provider.files", { image: { send: ["form"] } }),
      /provider\.request\.form/,
    ],
    ["has an unknown tier", () => changed("minTier", "gold"), /minTier/],
    ["was read on a day that is none", () => changed("asOf", "2026-13-01"), /asOf/],
    ["is retired on a day that is none", () => changed("retiresOn", "soon"), /retiresOn/],
    ["is run by somebody without a name", () => changed("company", "Not A Slug"), /company/],
    ["has an unknown provider", () => changed("provider.kind", "ftp"), /provider/],
    ["has outputs of another modality", () => changed("outputs", ["images"]), /outputs/],
    ["does not say where its output is", () => changed("provider.outputs", { images: "/x" }), /must point to the output/],
    ["polls without a request id", () => changed("provider.poll.path", "/v1/jobs"), /provider\.poll\.path/],
    ["has a pointer that is none", () => changed("provider.submit.requestId", "id"), /JSON pointer/],
    ["names a secret by its value", () => changed("provider.auth.secretEnv", "sk-1234"), /environment variable/],
    ["sends files of an input that takes none", () => changed("provider.files", { prompt: { send: ["url"] } }), /an input for files/],
    ["uploads files without saying where", () => changed("provider.upload", undefined), /provider\.upload/],
    ["has a storage of another protocol", () => changed("provider.upload.baseUrl", "file:///etc"), /upload\.baseUrl/],
    ["has an address of another protocol", () => changed("provider.baseUrl", "file:///etc"), /baseUrl/],
    [
      "misspells a keyword of its schema",
      () => changed("inputSchema.properties.prompt", { type: "string", minLenght: 1 }),
      /inputSchema: .*minLenght/,
    ],
    ["has a schema that is none", () => changed("inputSchema.properties.prompt", { type: "strin" }), /inputSchema/],
    ["counts seconds that have no maximum", () => changed("inputSchema.properties.seconds.maximum", undefined), /price: .*seconds/],
    ["counts seconds that have no default", () => changed("inputSchema.properties.seconds.default", undefined), /price: .*seconds/],
  ])("is rejected with its name if it %s", async (_what, content, problem) => {
    await write(content());
    const loading = loadRegistry(folder, ENV);
    await expect(loading).rejects.toThrow(problem);
    await expect(loading).rejects.toThrow("sandbox-video.json");
  });

  it.each<[string, string, object, RegExp]>([
    ["does not make what its modality says", "gpt-image-2", { modality: "audio", outputs: ["audios"] }, /must point to the output/],
    ["has a setting of another kind", "gpt-image-2", { provider: { poll: {} } }, /poll/],
    ["answers in an unknown way", "gpt-image-2", { provider: { answer: "smoke signals" } }, /answer/],
    ["has two bodies", "gpt-image-2", { provider: { request: { path: "/", body: {}, form: {} } } }, /not both/],
  ])("is rejected if it %s", async (_what, name, change, problem) => {
    const entry = JSON.parse(await readFile(join(SHIPPED, `${name}.json`), "utf8")) as Json;
    const { provider, ...members } = change as { provider?: object };
    await write({ ...entry, ...members, provider: { ...(entry.provider as Json), ...provider } }, `${name}.json`);
    await expect(loadRegistry(folder, ENV)).rejects.toThrow(problem);
  });

  it("is rejected if its number for an account differs from an earlier entry's", async () => {
    const ofAccount = (auth: object): Json => changed("provider.auth", { ...(base.provider as { auth: object }).auth, ...auth });
    await write(ofAccount({ maxConcurrent: 3 }));
    await write({ ...ofAccount({ maxConcurrent: 5 }), internalName: "sandbox-video-two" }, "sandbox-video-two.json");
    await expect(loadRegistry(folder, ENV)).rejects.toThrow(
      /sandbox-video\.json: provider\.auth: .*must be those of sandbox-video-two\.json/,
    );
    await write({ ...ofAccount({ maxConcurrent: 3 }), internalName: "sandbox-video-two" }, "sandbox-video-two.json");
    expect((await loadRegistry(folder, ENV)).models.size).toBe(2);
    for (const name of ["sandbox-video", "sandbox-video-two"])
      await write({ ...ofAccount({ maxConcurrentEnv: "CALLS" }), internalName: name }, `${name}.json`);
    await expect(loadRegistry(folder, { ...ENV, CALLS: "many" })).rejects.toThrow(/CALLS must be a whole number/);
  });

  it("is rejected if its name isn't its model's", async () => {
    await write(base, "other.json");
    await expect(loadRegistry(folder, ENV)).rejects.toThrow("other.json: must be named sandbox-video.json");
  });
});
