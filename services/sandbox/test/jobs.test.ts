import { PNG } from "pngjs";
import { startSandbox, type Answer, type TestSandbox } from "./support/sandbox";
import { decodeWav } from "./support/wav";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const submit = (body: object, headers?: Record<string, string>): Promise<Answer> => sandbox.call("POST", "/v1/jobs", body, headers);
const poll = (id: unknown): Promise<Answer> => sandbox.call("GET", `/v1/jobs/${String(id)}`);

describe("a polled job", () => {
  it("goes from queued over running to succeeded at its own pace", async () => {
    const submitted = await submit({ kind: "video", prompt: "a wave", seconds: 2 });
    expect(submitted.status).toBe(202);
    expect(submitted.body).toEqual({ id: expect.any(String), status: "queued" });
    const id = submitted.at("id");
    expect((await poll(id)).body).toMatchObject({ status: "queued", progress: 0 });
    sandbox.advance(300);
    expect((await poll(id)).body).toMatchObject({ status: "running", progress: 0.5 });
    sandbox.advance(300);
    const job = await poll(id);
    expect(job.body).toMatchObject({
      status: "succeeded",
      progress: 1,
      output: { videos: [{ url: expect.stringContaining("/files/") }] },
    });
    expect(job.at("error")).toBeUndefined();
  });

  it("returns the requested number of different pictures, the same for the same prompt and seed", async () => {
    const make = async (seed: number): Promise<string[]> => {
      const { at } = await submit({ kind: "image", prompt: "four boats", count: 4, seed, sandbox: { latencyMs: 0 } });
      const images = (await poll(at("id"))).at("output.images") as { url: string }[];
      return images.map(({ url }) => url);
    };
    const urls = await make(1);
    expect(new Set(urls).size).toBe(4);
    expect(await make(1)).toEqual(urls);
    expect(await make(2)).not.toEqual(urls);
    const pictures = await Promise.all(urls.map(sandbox.bytes));
    expect(new Set(pictures.map((bytes) => bytes.toString("base64"))).size).toBe(4);
    expect(pictures.map((bytes) => PNG.sync.read(bytes).width)).toEqual([512, 512, 512, 512]);
    expect((await sandbox.bytes(urls[0]!)).equals(pictures[0]!)).toBe(true);
  });

  it("returns another picture for another input picture", async () => {
    const make = async (image?: string): Promise<unknown> => {
      const { at } = await submit({ kind: "image", prompt: "restyle", image, sandbox: { latencyMs: 0 } });
      return (await poll(at("id"))).at("output.images.0.url");
    };
    expect(await make("data:image/png;base64,AAAA")).not.toBe(await make("data:image/png;base64,BBBB"));
    expect(await make("https://example.com/a.png")).not.toBe(await make());
  });

  it("returns music as a WAV file of the requested length", async () => {
    const { at } = await submit({ kind: "music", prompt: "a waltz", seconds: 3, sandbox: { latencyMs: 0 } });
    const url = (await poll(at("id"))).at("output.audios.0.url") as string;
    const response = await fetch(url);
    expect(response.headers.get("content-type")).toBe("audio/wav");
    expect(response.headers.get("x-sandbox")).toBe("true");
    expect(decodeWav(Buffer.from(await response.arrayBuffer())).seconds).toBe(3);
  });

  it("returns music as long as a film", async () => {
    const { at } = await submit({ kind: "music", prompt: "a long waltz", seconds: 120, sandbox: { latencyMs: 0 } });
    const response = await fetch((await poll(at("id"))).at("output.audios.0.url") as string);
    expect(decodeWav(Buffer.from(await response.arrayBuffer())).seconds).toBe(120);
  });

  it("is cancelled once and stays cancelled", async () => {
    const { at } = await submit({ kind: "image", prompt: "never mind" });
    const cancelled = await sandbox.call("POST", `/v1/jobs/${String(at("id"))}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.at("status")).toBe("cancelled");
    sandbox.advance(60_000);
    const polled = await poll(at("id"));
    expect(polled.at("status")).toBe("cancelled");
    expect(polled.at("output")).toBeUndefined();
  });

  it("keeps its output when it is cancelled too late", async () => {
    const { at } = await submit({ kind: "image", prompt: "too late", sandbox: { latencyMs: 0 } });
    const cancelled = await sandbox.call("POST", `/v1/jobs/${String(at("id"))}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({ status: "succeeded", output: { images: [{}] } });
  });

  it("still exists after an hour", async () => {
    const { at } = await submit({ kind: "image", prompt: "patience" });
    sandbox.advance(3_600_000);
    await submit({ kind: "image", prompt: "another" });
    expect((await poll(at("id"))).at("status")).toBe("succeeded");
  });

  it("is removed in the end, so that memory stays limited", async () => {
    const { at } = await submit({ kind: "image", prompt: "forgotten" }, { "idempotency-key": "forgotten" });
    sandbox.advance(3 * 3_600_000);
    const later = await submit({ kind: "image", prompt: "forgotten" }, { "idempotency-key": "forgotten" });
    expect(later.at("id")).not.toBe(at("id"));
    expect((await poll(at("id"))).status).toBe(404);
  });
});

describe("an idempotency key", () => {
  it("identifies one job, however many concurrent requests have it", async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => submit({ kind: "video", prompt: "once" }, { "idempotency-key": "once-only" })),
    );
    expect(new Set(answers.map(({ at }) => at("id"))).size).toBe(1);
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    const listed = await sandbox.call("GET", "/v1/jobs?idempotencyKey=once-only");
    expect(listed.at("jobs")).toHaveLength(1);
  });

  it("does not join different keys, nor requests without one", async () => {
    const ids = await Promise.all(
      [{ "idempotency-key": "k1" }, { "idempotency-key": "k2" }, undefined, undefined].map(async (headers) =>
        (await submit({ kind: "image", prompt: "same" }, headers)).at("id"),
      ),
    );
    expect(new Set(ids).size).toBe(4);
  });
});

describe("the list of jobs", () => {
  it("shows the newest first, with counters of requests", async () => {
    const before = await sandbox.call("GET", "/v1/jobs");
    const { at } = await submit({ kind: "image", prompt: "listed" });
    await poll(at("id"));
    await sandbox.call("POST", `/v1/jobs/${String(at("id"))}/cancel`);
    const after = await sandbox.call("GET", "/v1/jobs?limit=2");
    expect(after.at("jobs")).toHaveLength(2);
    expect(after.at("jobs.0")).toMatchObject({ id: at("id"), status: "cancelled", model: "sandbox-image", polls: 1, cancels: 1 });
    for (const name of ["submissions", "polls", "cancels"])
      expect(after.at(`counters.${name}`)).toBe((before.at(`counters.${name}`) as number) + 1);
  });
});

describe("bad input", () => {
  it.each<[string, unknown, string]>([
    ["no prompt", { kind: "image" }, "prompt"],
    ["an empty prompt", { kind: "image", prompt: "" }, "prompt"],
    ["an unknown kind", { kind: "hologram", prompt: "x" }, "kind"],
    ["too many pictures", { kind: "image", prompt: "x", count: 5 }, "count"],
    ["a fraction of a second", { kind: "video", prompt: "x", seconds: 1.5 }, "seconds"],
    ["eleven seconds", { kind: "video", prompt: "x", seconds: 11 }, "seconds"],
    ["more than two minutes of music", { kind: "music", prompt: "x", seconds: 121 }, "seconds"],
    ["a picture that is no address", { kind: "image", prompt: "x", image: "med_123" }, "image"],
    ["an unknown member", { kind: "image", prompt: "x", colour: "red" }, "colour"],
    ["an unknown fault", { kind: "image", prompt: "x", sandbox: { fail: "explode" } }, "sandbox.fail"],
    ["a success as refusal", { kind: "image", prompt: "x", sandbox: { fail: "submit", status: 200 } }, "sandbox.status"],
    ["a list", [], "body"],
    ["no JSON", "{", "body"],
  ])("names the invalid member: %s", async (_name, body, param) => {
    const { status, at } = await sandbox.call("POST", "/v1/jobs", body);
    expect(status).toBe(400);
    expect(at("error.param")).toBe(param);
    expect(at("error.message")).toEqual(expect.any(String));
  });

  it("returns 413 above 20 MB and accepts a picture of 15 MB", async () => {
    const withImage = (megabytes: number): object => ({
      kind: "image",
      prompt: "large",
      image: `data:image/png;base64,${"A".repeat(megabytes * 2 ** 20)}`,
    });
    expect((await submit(withImage(21))).status).toBe(413);
    expect((await submit(withImage(15))).status).toBe(202);
  });

  it("returns 401 without the key, with another or with another scheme", async () => {
    for (const authorization of ["", "Bearer", "Bearer wrong", "Key a-key-for-tests"]) {
      const { status, at } = await sandbox.call("POST", "/v1/jobs", { kind: "image", prompt: "x" }, { authorization });
      expect(status).toBe(401);
      expect(at("error.code")).toBe("unauthorized");
    }
  });

  it("returns 404 for a missing resource", async () => {
    const id = "00000000-0000-4000-8000-000000000000";
    const answers = await Promise.all([
      poll(id),
      sandbox.call("POST", `/v1/jobs/${id}/cancel`),
      sandbox.call("GET", "/v1/nothing"),
      sandbox.call("GET", "/files/..%2f..%2fetc%2fpasswd"),
      sandbox.call("GET", `/files/video-99-8-${"0".repeat(32)}.mp4`),
      sandbox.call("GET", `/files/image-4096-${"0".repeat(32)}.png`),
    ]);
    for (const { status, at } of answers) {
      expect(status).toBe(404);
      expect(at("error.code")).toBe("not_found");
    }
  });
});

describe("the server itself", () => {
  it("reports what it is, and that it is alive", async () => {
    const page = await sandbox.call("GET", "/", undefined, { authorization: "" });
    expect(page.text).toContain("This is no AI");
    expect(page.headers.get("x-sandbox")).toBe("true");
    for (const path of ["/healthz", "/readyz"]) expect((await sandbox.call("GET", path)).body).toEqual({ status: "ok" });
    const stats = await sandbox.call("GET", "/sandbox/stats");
    expect(stats.body).toMatchObject({ jobs: { held: expect.any(Number) }, files: { rendered: expect.any(Number) } });
  });
});
