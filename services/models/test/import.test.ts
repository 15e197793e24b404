import { createInputCheck } from "@nodeloom/kernel";
import { checkEntry } from "../src/checked-entry";
import { createImporter, type ImportedProvider } from "../src/import";

/** Providers' public descriptions, reduced to the relevant parts. */

const FAL = {
  openapi: "3.0.4",
  info: {
    title: "Queue OpenAPI for fal-ai/kling-video",
    description: "Kling",
    "x-fal-metadata": { endpointId: "fal-ai/kling-video/v3", displayName: "Kling v3" },
  },
  components: {
    schemas: {
      QueueStatus: { type: "object", properties: { status: { type: "string" } } },
      Size: { title: "Size", type: "object", properties: { width: { type: "integer" } } },
      In: {
        title: "In",
        type: "object",
        "x-fal-order-properties": ["prompt"],
        required: ["prompt", "image_url"],
        properties: {
          prompt: { type: "string", title: "Prompt", examples: ["x"], maxLength: 2500 },
          image_url: { type: "string", title: "Image Url", description: "The first frame." },
          image_urls: { type: "array", items: { type: "string" }, title: "Image Urls" },
          duration: { enum: ["5", "10"], type: "string", default: "5", title: "Duration" },
          size: {
            anyOf: [{ $ref: "#/components/schemas/Size" }, { enum: ["square", "wide"], type: "string" }],
            default: "wide",
            title: "Size",
          },
          num_images: { type: "integer", default: 1, minimum: 1, maximum: 8 },
          seed: { anyOf: [{ type: "integer" }, { type: "null" }], title: "Seed" },
          cfg_scale: { type: "number", default: 0.5, minimum: 0, maximum: 1, exclusiveMinimum: 0 },
          elements: { type: "array", items: { $ref: "#/components/schemas/Size" } },
          sync_mode: { type: "boolean", default: false },
        },
      },
      Out: { type: "object", properties: { video: { allOf: [{ $ref: "#/components/schemas/File" }] }, seed: { type: "integer" } } },
      File: { type: "object", properties: { url: { type: "string" }, content_type: { type: "string" } } },
    },
  },
  paths: {
    "/fal-ai/kling-video/requests/{request_id}/status": {
      get: { responses: { "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/QueueStatus" } } } } } },
    },
    "/fal-ai/kling-video/v3": {
      post: { requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/In" } } } } },
    },
    "/fal-ai/kling-video/requests/{request_id}": {
      get: { responses: { "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/Out" } } } } } },
    },
  },
};
const REPLICATE = {
  owner: "someone",
  name: "painter",
  description: "Paints",
  default_example: { output: ["https://replicate.delivery/x/out-0.webp"] },
  latest_version: {
    id: "7762fd07cf82c948538e41f63f77d685e02b063e37e496e96eefd46c929f9bdc",
    openapi_schema: {
      components: {
        schemas: {
          Input: {
            type: "object",
            required: ["prompt"],
            properties: {
              prompt: { type: "string", title: "Prompt", "x-order": 0 },
              mask: { type: "string", format: "uri", title: "Mask", "x-order": 1 },
              scheduler: { allOf: [{ $ref: "#/components/schemas/scheduler" }], default: "DDIM", "x-order": 2 },
              num_outputs: { type: "integer", default: 1, minimum: 1, maximum: 4, "x-order": 3 },
            },
          },
          scheduler: { enum: ["DDIM", "KLMS"], type: "string", title: "scheduler" },
          Output: { type: "array", items: { type: "string", format: "uri" }, title: "Output" },
        },
      },
    },
  },
};
const OPENROUTER = {
  data: [
    {
      id: "openai/gpt-6-luna",
      name: "OpenAI: GPT-6 Luna",
      description: "Small",
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      pricing: { prompt: "0.0000001", completion: "0.0000005" },
      top_provider: { max_completion_tokens: 128000 },
      supported_parameters: ["structured_outputs", "max_tokens"],
    },
    { id: "openrouter/auto", name: "Auto", architecture: { output_modalities: ["text"] }, pricing: { prompt: "-1", completion: "-1" } },
    { id: "x/painter", name: "Painter", architecture: { output_modalities: ["image"] }, pricing: {} },
  ],
};

const requests: { url: string; headers: Record<string, string> | undefined }[] = [];
const publishing = (answer: unknown, status = 200) => ({
  request: ({ url, headers }: { url: string; headers?: Record<string, string> }) => {
    requests.push({ url, headers });
    const body = Buffer.from(typeof answer === "string" ? answer : JSON.stringify(answer));
    return Promise.resolve({ status, headers: {}, body, url });
  },
});
const now = (): number => Date.parse("2026-11-25T10:00:00Z");
const draftOf = (provider: ImportedProvider, app: string, answer: unknown, more: object = {}, secrets: Record<string, string> = {}) =>
  createImporter({ egress: publishing(answer) as never, secret: (name) => Promise.resolve(secrets[name]), now })(provider, {
    app,
    ...more,
  });
const modelOf = (entry: unknown) => {
  const checked = checkEntry(entry);
  if ("issues" in checked) throw new Error(JSON.stringify(checked.issues));
  return checked.entry;
};

describe("a model of fal", () => {
  it("is a draft without a price, created from its published schema", async () => {
    const { entry, notes } = await draftOf("fal", "fal-ai/kling-video/v3", FAL);
    const model = modelOf(entry);
    expect(requests.at(-1)!.url).toBe("https://fal.ai/api/openapi/queue/openapi.json?endpoint_id=fal-ai%2Fkling-video%2Fv3");
    expect(model).toMatchObject({
      internalName: "fal-kling-video-v3",
      displayName: "Kling v3",
      modality: "video",
      company: "fal",
      asOf: "2026-11-25",
      price: null,
      outputs: ["videos"],
      provider: {
        app: "fal-ai/kling-video/v3",
        body: { duration: "${seconds}", num_images: { $input: "count" }, image_url: { $input: "image_url" } },
        outputs: { videos: "/video/url" },
        files: { image_url: { send: ["url", "upload", "data-url"] } },
      },
    });
    expect(Object.keys(model.inputSchema.properties).sort()).toEqual(
      ["prompt", "image_url", "image_urls", "seconds", "size", "count", "seed", "cfg_scale"].sort(),
    );
    expect(model.inputSchema.properties).toMatchObject({
      image_url: { format: "media", contentMediaType: "image/*" },
      image_urls: { type: "array", items: { format: "media" } },
      seconds: { type: "integer", enum: [5, 10], default: 5, maximum: 10 },
      size: { enum: ["square", "wide"], default: "wide" },
    });
    expect(notes.join()).toContain("elements");
    const check = createInputCheck(model.inputSchema);
    expect(check({ prompt: "x", image_url: "https://example.com/a.png", seconds: 10 })).toEqual([]);
    expect(check({ prompt: "x" })).not.toEqual([]);
  });

  it("makes 3D models if its result has a mesh, also beside a picture of it", async () => {
    const file = { $ref: "#/components/schemas/File" };
    const Out = { type: "object", properties: { rendered_image: file, model_mesh: file } };
    const published = { ...FAL, components: { schemas: { ...FAL.components.schemas, Out } } };
    const { entry } = await draftOf("fal", "fal-ai/hunyuan3d/v2", published);
    expect(modelOf(entry)).toMatchObject({
      ...{ modality: "model3d", outputs: ["models3d"] },
      provider: { outputs: { models3d: "/model_mesh/url" } },
    });
  });

  it.each([
    ["no path of an application", "not an app!", FAL, "app"],
    ["one that publishes nothing", "fal-ai/none", {}, "app"],
  ])("is rejected if it is %s", async (_what, app, answer, path) => {
    await expect(draftOf("fal", app, answer)).rejects.toMatchObject({ reason: "INVALID_REQUEST", metadata: { issues: [{ path }] } });
  });
});

describe("a model of Replicate", () => {
  const key = { REPLICATE_API_TOKEN: "r8_x" };

  it("is called by its version, unless it is official, and looked up with the key", async () => {
    const { entry } = await draftOf("replicate", "someone/painter", REPLICATE, {}, key);
    expect(requests.at(-1)).toMatchObject({
      url: "https://api.replicate.com/v1/models/someone/painter",
      headers: { Authorization: "Bearer r8_x" },
    });
    expect(modelOf(entry)).toMatchObject({
      internalName: "replicate-someone-painter",
      modality: "image",
      outputs: ["images"],
      provider: { app: REPLICATE.latest_version.id, body: { num_outputs: { $input: "count" } }, outputs: { images: "/output/*" } },
      inputSchema: { properties: { scheduler: { enum: ["DDIM", "KLMS"], default: "DDIM" }, mask: { contentMediaType: "image/*" } } },
    });
    const official = await draftOf("replicate", "someone/painter", { ...REPLICATE, is_official: true }, { internalName: "painter" }, key);
    expect(modelOf(official.entry)).toMatchObject({ internalName: "painter", provider: { app: "someone/painter" } });
  });

  it("names the missing information: the key, or the modality", async () => {
    await expect(draftOf("replicate", "someone/painter", REPLICATE)).rejects.toMatchObject({
      reason: "PRECONDITION_FAILED",
      message: expect.stringContaining("REPLICATE_API_TOKEN") as string,
    });
    const silent = { ...REPLICATE, default_example: null };
    await expect(draftOf("replicate", "someone/painter", silent, {}, key)).rejects.toMatchObject({
      metadata: { issues: [{ path: "modality" }] },
    });
    expect(modelOf((await draftOf("replicate", "someone/painter", silent, { modality: "video" }, key)).entry).modality).toBe("video");
    const potter = { ...REPLICATE, default_example: { output: "https://replicate.delivery/x/vase.glb" } };
    expect(modelOf((await draftOf("replicate", "someone/potter", potter, {}, key)).entry).outputs).toEqual(["models3d"]);
  });
});

describe("a model of OpenRouter", () => {
  it("comes with its price", async () => {
    const { entry, notes } = await draftOf("openrouter", "openai/gpt-6-luna", OPENROUTER);
    expect(modelOf(entry)).toMatchObject({
      internalName: "openrouter-openai-gpt-6-luna",
      price: { basis: "tokens", inputMicroUsdPerMillion: 100_000, outputMicroUsdPerMillion: 500_000 },
      provider: { kind: "llm", model: "openai/gpt-6-luna", structuredOutput: "json_schema" },
    });
    expect([notes, Object.keys(modelOf(entry).inputSchema.properties)]).toEqual([
      [],
      ["prompt", "system", "history", "image", "maxTokens"],
    ]);
  });

  it("needs a price if it has none of its own", async () => {
    const { entry, notes } = await draftOf("openrouter", "openrouter/auto", OPENROUTER);
    expect([modelOf(entry).price, notes]).toEqual([null, [expect.stringContaining("price")]]);
  });

  it.each(["no/such", "x/painter"])("is rejected if it is %s", async (app) => {
    await expect(draftOf("openrouter", app, OPENROUTER)).rejects.toMatchObject({ metadata: { issues: [{ path: "model" }] } });
  });
});

describe("a provider", () => {
  it.each<[string, unknown, number, string]>([
    ["does not know the model", {}, 404, "INVALID_REQUEST"],
    ["is away", {}, 502, "SERVICE_UNAVAILABLE"],
    ["answers with something else", "<html>", 200, "SERVICE_UNAVAILABLE"],
  ])("that %s is reported as %s", async (_what, answer, status, reason) => {
    const draft = createImporter({ egress: publishing(answer, status) as never, secret: () => Promise.resolve(undefined), now });
    await expect(draft("fal", { app: "fal-ai/x" })).rejects.toMatchObject({ reason });
  });
});
