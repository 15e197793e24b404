import { PNG } from "pngjs";
import { API_KEY, startSandbox, type Answer, type TestSandbox } from "./support/sandbox";
import { decodeWav } from "./support/wav";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const fast = { latencyMs: 0 };

describe("the images dialect", () => {
  const draw = (members: object = {}): Promise<Answer> =>
    sandbox.call("POST", "/v1/images/generations", { model: "sandbox-image-fast", prompt: "a loom", sandbox: fast, ...members });
  const pictureOf = (answer: Answer, index = 0): Buffer => Buffer.from(String(answer.at(`data.${index}.b64_json`)), "base64");

  it("returns the requested number of real pictures, the same for the same prompt", async () => {
    const answer = await draw({ n: 2 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toMatch(/^req-/);
    expect(answer.at("data")).toHaveLength(2);
    expect(PNG.sync.read(pictureOf(answer)).width).toBe(256);
    expect(pictureOf(answer, 1)).not.toEqual(pictureOf(answer));
    expect(pictureOf(await draw())).toEqual(pictureOf(answer));
  });

  it("returns addresses on request", async () => {
    const answer = await draw({ response_format: "url" });
    expect(PNG.sync.read(await sandbox.bytes(String(answer.at("data.0.url")))).width).toBe(256);
  });

  it("rejects, fails and returns nothing on request, and has no polls to flap", async () => {
    expect((await draw({ sandbox: { fail: "submit", status: 422 } })).status).toBe(422);
    expect((await draw({ sandbox: { ...fast, fail: "job" } })).at("error.code")).toBe("generation_failed");
    expect((await draw({ sandbox: { ...fast, fail: "incomplete" } })).at("data")).toEqual([]);
    expect((await draw({ sandbox: { ...fast, fail: "flap" } })).status).toBe(200);
  });

  it("knows its models and its key", async () => {
    expect((await draw({ model: "dall-e-9" })).status).toBe(404);
    expect((await draw({ n: 5 })).at("error.param")).toBe("n");
    const body = { model: "sandbox-image", prompt: "x" };
    expect((await sandbox.call("POST", "/v1/images/generations", body, { authorization: "Bearer wrong" })).status).toBe(401);
  });
});

describe("the speech dialect", () => {
  const speak = (members: object = {}, voice = "rachel", headers: Record<string, string> = { "xi-api-key": API_KEY }): Promise<Response> =>
    fetch(`${sandbox.url}/v1/text-to-speech/${voice}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ text: "Hello from the loom", model_id: "sandbox-speech", sandbox: fast, ...members }),
    });
  const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

  it("returns a real sound, and another one for another voice", async () => {
    const answer = await speak();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "audio/wav"]);
    expect(answer.headers.get("request-id")).toMatch(/^req-/);
    const sound = await bytesOf(answer);
    expect(decodeWav(sound).seconds).toBeGreaterThan(0.5);
    expect(await bytesOf(await speak())).toEqual(sound);
    expect(await bytesOf(await speak({}, "adam"))).not.toEqual(sound);
  });

  it("rejects, fails and returns nothing on request", async () => {
    expect((await speak({ sandbox: { fail: "submit", status: 429 } })).status).toBe(429);
    expect((await speak({ sandbox: { ...fast, fail: "job" } })).status).toBe(500);
    expect(await bytesOf(await speak({ sandbox: { ...fast, fail: "incomplete" } }))).toHaveLength(0);
  });

  it("requires its key in its own header", async () => {
    expect((await speak({}, "rachel", {})).status).toBe(401);
    expect((await speak({}, "rachel", { authorization: `Bearer ${API_KEY}` })).status).toBe(401);
    expect((await speak({ model_id: "other" })).status).toBe(404);
  });

  it("counts its requests", async () => {
    const before = (await sandbox.call("GET", "/sandbox/stats")).at("speech.requests") as number;
    await speak();
    expect((await sandbox.call("GET", "/sandbox/stats")).at("speech.requests")).toBe(before + 1);
  });
});
