import { workflowWith } from "../src/dialects/comfyui/workflow";
import { createEgressClient, createOwnServers, type OwnServers } from "@nodeloom/platform";
import { createProvider, type JobProgress, type JobProvider, type PollState, type ProviderFile } from "../src";
import { uploadFile } from "../src/uploads";
import { eventually } from "../../../test-support/eventually";
import { startComfyUi, type ComfyUi } from "../../../test-support/comfyui";

let comfy: ComfyUi;
let ownServers: OwnServers;
const guarded = createEgressClient();

beforeEach(async () => {
  comfy = await startComfyUi();
  ownServers = createOwnServers();
});
afterEach(async () => {
  await ownServers.close();
  await comfy.stop();
});
afterAll(() => guarded.close());

const WORKFLOW = {
  "3": { class_type: "KSampler", inputs: { seed: 42, steps: 20, model: ["4", 0] } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a loom", clip: ["4", 1] } },
  "10": { class_type: "LoadImage", inputs: { image: "a.png" } },
  "11": { class_type: "KSampler", inputs: { noise_seed: ["12", 0] } },
};
const settings = (part: object = {}): Record<string, unknown> => ({
  kind: "comfyui",
  baseUrl: `http://${comfy.address}`,
  server: { id: "home", name: "Home" },
  workflow: JSON.stringify(WORKFLOW),
  inputs: {
    prompt: { node: "6", input: "text" },
    steps: { node: "3", input: "steps" },
    face: { node: "10", input: "image" },
    gone: { node: "99", input: "text" },
  },
  makes: "image",
  upload: { api: "comfyui" },
  ...part,
});
const provider = (part: object = {}): JobProvider =>
  createProvider(JSON.stringify(settings(part)), { egress: guarded, ownServers, secret: () => undefined }) as JobProvider;
const submit = (inputs: Record<string, unknown> = {}, part: object = {}) => provider(part).submit({ inputs, idempotencyKey: "key" });
const bytesOf = async (file: ProviderFile): Promise<string> => {
  if (!("read" in file)) throw new Error("no file that can be read again");
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.read()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
const filesOf = (state: PollState): Promise<string[]> => Promise.all((state.state === "succeeded" ? state.output.files : []).map(bytesOf));
const image = (filename: string, part: object = {}): object => ({ filename, subfolder: "", type: "output", ...part });

it("puts inputs at their positions, and gives each run a new seed", async () => {
  await submit({ prompt: "a heron", steps: 8, other: 1 });
  await submit({ prompt: "a heron" });
  const [first, second] = [comfy.running!.workflow, comfy.pending[0]!.workflow];
  expect(first["6"]!.inputs).toEqual({ text: "a heron", clip: ["4", 1] });
  expect(first["3"]!.inputs).toMatchObject({ steps: 8, model: ["4", 0] });
  expect(second["3"]!.inputs).toMatchObject({ steps: 20 });
  expect(first["3"]!.inputs.seed).not.toBe(second["3"]!.inputs.seed);
  expect(first["11"]!.inputs.noise_seed).toEqual(["12", 0]);
  expect(first).not.toHaveProperty("99");
});

it("waits in the queue, runs, and returns saved files, whatever their names", async () => {
  const target = provider();
  const one = await submit();
  const two = await submit();
  expect([await target.poll(one), await target.poll(two)]).toEqual([{ state: "running" }, { state: "running" }]);
  comfy.files.set("filename=a+b%26type%3Dtemp%2F%F0%9F%A7%B5.png&subfolder=out%2F..%2Fx&type=output", Buffer.from("kept"));
  comfy.end({
    outputs: {
      "9": { images: [image("a b&type=temp/🧵.png", { subfolder: "out/../x" }), image("p.png", { type: "temp" })] },
      "7": { text: ["not a file"], audio: [image("a.flac")] },
    },
  });
  expect(await filesOf(await target.poll(one))).toEqual(["kept"]);
  expect(await target.poll(two)).toEqual({ state: "running" });
});

it.each<[string, string, string[], string[]]>([
  ["films rather than their first pictures", "video", ["v.mp4", "v.png"], ["v.mp4"]],
  ["animated pictures as pictures", "image", ["a.webp", "b.png", "c.gif"], ["a.webp", "b.png", "c.gif"]],
  ["no animated picture as a film", "video", ["v.webp"], []],
  ["sound alone", "audio", ["a.flac", "cover.png"], ["a.flac"]],
  ["nothing of another kind", "image", ["a.flac"], []],
])("gives %s", async (_what, makes, names, history) => {
  const submission = await submit({}, { makes });
  for (const name of names) comfy.files.set(`filename=${name}&subfolder=&type=output`, Buffer.from(name));
  comfy.end({ outputs: { "9": { gifs: names.map((name) => image(name)) } } });
  expect(await filesOf(await provider({ makes }).poll(submission))).toEqual(history);
});

it("removes the workflow from its files, unless its owner keeps it", async () => {
  const submission = await submit();
  comfy.end({ outputs: { "9": { images: [image("a.png")] } } });
  for (const [part, stripMetadata] of [
    [{}, true],
    [{ keepMetadata: true }, false],
  ] as const) {
    expect(await provider(part).poll(submission)).toMatchObject({ output: { files: [{ stripMetadata }] } });
  }
});

it("returns a preview if a workflow saves nothing", async () => {
  const submission = await submit();
  comfy.files.set("filename=p.png&subfolder=&type=temp", Buffer.from("preview"));
  comfy.end({ outputs: { "9": { images: [image("p.png", { type: "temp" })] } } });
  expect(await filesOf(await provider().poll(submission))).toEqual(["preview"]);
});

it("reports the error of a rejected workflow, and the failed node", async () => {
  await expect(submit({ steps: 0 })).rejects.toMatchObject({
    kind: "refused",
    status: 400,
    message: "the provider answered 400: Prompt outputs failed validation (steps)",
  });
  const submission = await submit();
  comfy.end({ status_str: "error", messages: [["execution_error", { node_type: "KSampler", exception_message: "out of memory\n" }]] });
  expect(await provider().poll(submission)).toEqual({ state: "failed", message: "KSampler: out of memory" });
});

it("finds a job whose submission got no response, waiting, running or ended, until the server restarts", async () => {
  const find = (key: string) => provider().find!(key);
  const submitted = (idempotencyKey: string) => provider().submit({ inputs: {}, idempotencyKey });
  const [first, second] = [await submitted("画 1"), await submitted("two")];
  expect(await Promise.all([find("画 1"), find("two"), find("three")])).toEqual([first, second, undefined]);
  comfy.end({});
  expect(await find("画 1")).toEqual(first);
  comfy.forget();
  expect(await find("画 1")).toBeUndefined();
});

it("reports a job as lost after the server has lost it", async () => {
  const submission = await submit();
  comfy.forget();
  await expect(provider().poll(submission)).rejects.toMatchObject({ status: 404 });
});

describe("while a job runs", () => {
  const watched = async (key: string): Promise<{ reports: JobProgress[]; stop: AbortController; closing: Promise<void> }> => {
    const submission = await provider().submit({ inputs: {}, idempotencyKey: key });
    const [reports, stop] = [[] as JobProgress[], new AbortController()];
    const onProgress = (progress: JobProgress): void => void reports.push(progress);
    const closing = provider().watch!({ submission, idempotencyKey: key, onProgress, signal: stop.signal });
    return { reports, stop, closing };
  };
  const connected = (count: number): Promise<number> =>
    eventually(
      () => Promise.resolve(comfy.sockets.size),
      (size) => size === count,
    );
  const step = (value: number, part: object = {}): object => ({
    type: "progress",
    data: { value, max: 20, prompt_id: "p1", node: "3", ...part },
  });

  it("its percent and its unfinished picture are reported, and nothing else that the server sends", async () => {
    const { reports, stop, closing } = await watched("画 1");
    await connected(1);
    expect(comfy.running!.extra).toEqual({ preview_method: "auto", client_id: "nodeloom-画 1" });
    const large = Buffer.alloc(70_000, 7);
    for (const message of [step(5), step(9, { prompt_id: "p7" }), step(9, { max: 0 }), { type: "executing", data: { node: "3" } }])
      comfy.send(message);
    comfy.sendPreview(1, large);
    comfy.sendPreview(9, Buffer.from("unknown format"));
    comfy.sendPreview(2, Buffer.alloc(300_000));
    comfy.send(step(20));
    await eventually(
      () => Promise.resolve(reports),
      ({ length }) => length >= 3,
    );
    expect(reports).toEqual([{ percent: 25 }, { image: { contentType: "image/jpeg", bytes: large } }, { percent: 100 }]);
    stop.abort();
    await closing;
    await connected(0);
  });

  it("a server without previews, or one that closes the connection, ends the watching quietly", async () => {
    const { stop, closing } = await watched("one");
    await connected(1);
    for (const socket of comfy.sockets.values()) socket.destroy();
    await closing;
    comfy.isOld = true;
    await (
      await watched("two")
    ).closing;
    expect(stop.signal.aborted).toBe(false);
  });

  it("can't be watched at another address than the server's own", async () => {
    const watch = provider({ server: undefined }).watch!;
    const options = {
      submission: { requestId: "p1" },
      idempotencyKey: "one",
      onProgress: () => undefined,
      signal: new AbortController().signal,
    };
    await expect(watch(options)).rejects.toThrow("refused to call");
    expect(comfy.requests).toEqual([]);
  });
});

describe("a cancelled job", () => {
  it("leaves the queue, and interrupts no other prompt, whatever the server supports", async () => {
    comfy.isOld = true;
    await submit();
    const waiting = await submit();
    expect(await provider().cancel(waiting)).toBe(true);
    expect(comfy.pending).toEqual([]);
    expect(comfy.running).toBeDefined();
    expect(comfy.requests).not.toContain("POST /interrupt");
  });

  it("is interrupted while it runs, by its id", async () => {
    const running = await submit();
    await submit();
    await provider().cancel(running);
    expect(await provider().poll(running)).toEqual({ state: "cancelled" });
    expect(comfy.running!.id).toBe("p2");
  });

  it("isn't touched after it has ended", async () => {
    const submission = await submit();
    comfy.end({});
    await submit();
    await provider().cancel(submission);
    expect(comfy.requests).not.toContain("POST /interrupt");
  });
});

it("uploads its files to the server's input folder, and names them as loaders do", async () => {
  const file = { name: "face.png", contentType: "image/png", length: 4, read: () => Promise.resolve(Buffer.from("face")) };
  const read = async function* () {
    yield await file.read();
  };
  const uploaded = await uploadFile(
    { egress: guarded, ownServers, secret: () => undefined },
    { ...(settings() as never as Parameters<typeof uploadFile>[1]) },
    { ...file, read },
  );
  expect(uploaded.reference).toBe("nodeloom/face.png");
  expect(comfy.files.get("nodeloom/face.png")!.toString()).toBe("face");
  await submit({ face: uploaded.reference });
  expect(comfy.running!.workflow["10"]!.inputs.image).toBe("nodeloom/face.png");
});

it("can't be used by an entry that isn't of a server", async () => {
  await expect(submit({}, { server: undefined })).rejects.toMatchObject({ kind: "unreachable" });
  expect(comfy.requests).toEqual([]);
});

it.each(["constructor", "toString", "valueOf"])(
  "an input called %s, like an inherited member, keeps the workflow's value if a call has none",
  (name) => {
    const stored = { workflow: JSON.stringify({ "1": { inputs: { text: "a loom" } } }), inputs: { [name]: { node: "1", input: "text" } } };
    expect(workflowWith(stored, {})).toEqual({ "1": { inputs: { text: "a loom" } } });
    expect(workflowWith(stored, { [name]: "a boat" })).toEqual({ "1": { inputs: { text: "a boat" } } });
  },
);
