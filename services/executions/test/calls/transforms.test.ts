import type { DomainError } from "@nodeloom/kernel";
import { createSlots } from "@nodeloom/platform";
import { media, transform } from "@nodeloom/proto";
import {
  createPrograms,
  createProgramVersion,
  createRequirePrograms,
  createTransforms,
  type TransformsOptions,
} from "../../src/calls/transforms";
import { fingerprintOfTransform } from "../../src/reuse/fingerprints";
import type { TransformCall } from "../../src/run/calls";

const OWN = "http://public.test/media/";
const never = new AbortController().signal;
const call = (operation: string, inputs: Record<string, unknown>): TransformCall => ({
  ...{
    operation,
    inputs,
    executionId: "run",
    userId: "user",
    nodeId: "node",
    nodeIndex: 2,
    item: 1,
    items: 3,
    startedAt: 0,
    key: "run:node:1",
  },
});

/** Calls of operations, with the requests to media and transform. */
const world = () => {
  const [runRequests, ingested]: [transform.RunRequest[], media.IngestRequest[]] = [[], []];
  const options: TransformsOptions = {
    media: {
      getObjects: () => Promise.resolve(media.GetObjectsResponse.fromPartial({})),
      ingest: (request) => {
        ingested.push(request);
        return Promise.resolve({ object: media.StoredObject.fromPartial({ url: `${OWN}fetched`, contentType: "image/png" }) });
      },
    },
    transform: {
      run: (request) => {
        runRequests.push(request);
        const object = { url: `${OWN}made`, contentType: "image/png", width: 4, height: 3 };
        return Promise.resolve(transform.RunResponse.fromPartial({ outputs: [{ object }], warnings: ["image: only the first"] }));
      },
    },
    downloads: createSlots({ concurrency: 1, queueLimit: 1 }),
    own: OWN,
  };
  return { run: createTransforms(options), requests: runRequests, ingested };
};

it("names stored files by their keys, and fetches others first if they are allowed", async () => {
  const { run, requests, ingested } = world();
  const [images, allowed] = [[`${OWN}first`, "https://elsewhere.test/second.png"], [] as string[]];
  const { files: storedFiles, warnings } = await run(call("image-grid", { images, columns: 2 }), never, (url) =>
    Promise.resolve(void allowed.push(url)),
  );
  expect(storedFiles).toEqual([{ id: "", url: `${OWN}made`, contentType: "image/png", width: 4, height: 3 }]);
  expect(warnings).toEqual(["image: only the first"]);
  expect(allowed).toEqual(["https://elsewhere.test/second.png"]);
  expect(ingested).toMatchObject([
    { id: "run-2-1-1-in", ownerId: "user", sourceUrl: "https://elsewhere.test/second.png", accept: ["image"] },
  ]);
  expect(requests).toMatchObject([
    {
      callId: "run-2-1",
      userId: "user",
      operation: "image-grid",
      settingsJson: '{"columns":2}',
      inputs: [
        { port: "images", key: "first" },
        { port: "images", key: "fetched" },
      ],
      making: { nodeId: "node", executionId: "run", model: "image-grid", parents: images },
    },
  ]);
});

it("calls nothing if earlier nodes created an unsupported input", async () => {
  const { run, requests } = world();
  const refusalFor = (operation: string, inputs: Record<string, unknown>): Promise<DomainError> =>
    run(call(operation, inputs), never, () => Promise.resolve()).then(
      () => Promise.reject(new Error("it was expected to fail")),
      (error: DomainError) => error,
    );
  expect((await refusalFor("image-resize", { image: "data:audio/wav;base64,AA==", width: 5 })).message).toBe(
    "image-resize: image: must be an image, but is an audio file",
  );
  expect((await refusalFor("image-resize", { image: `${OWN}first`, width: -5 })).message).toMatch(/^image-resize: width: must be/);
  expect((await refusalFor("image-resize", { image: "of-nobody", width: 5 })).message).toBe(
    "image-resize: image: you have no media file of-nobody",
  );
  expect(requests).toEqual([]);
});

it("rejects a run whose program isn't downloaded yet, with the time to retry", async () => {
  const { PROGRAM_STATE_DOWNLOADING: downloading, PROGRAM_STATE_READY: ready } = transform.ProgramState;
  const requires = (state: transform.ProgramState) => {
    const ffmpeg = { state, reason: "ffmpeg is being downloaded (1 of 68 MB): wait for it", retryAfterSeconds: 9 };
    return createRequirePrograms(createPrograms({ getStatus: () => Promise.resolve(transform.GetStatusResponse.fromPartial({ ffmpeg })) }));
  };
  await expect(requires(downloading)(["image-resize", "video-concat"])).rejects.toMatchObject({
    reason: "SERVICE_UNAVAILABLE",
    message: "video-concat is not ready: ffmpeg is being downloaded (1 of 68 MB): wait for it",
    metadata: { retryAfter: 9, operation: "video-concat" },
  });
  await expect(requires(downloading)(["image-resize"])).resolves.toBeUndefined();
  await expect(requires(ready)(["video-concat"])).resolves.toBeUndefined();
});

it("reuses a result while the program is the same", async () => {
  const status = transform.GetStatusResponse.fromPartial({ images: { version: "8.17" }, ffmpeg: { version: "7.1" } });
  const programVersion = createProgramVersion(createPrograms({ getStatus: () => Promise.resolve(status) }));
  expect([await programVersion("image-resize"), await programVersion("video-concat")]).toEqual(["8.17", "7.1"]);
  const resize = { operation: "image-resize", inputs: { image: `${OWN}first`, width: 9 } };
  const askedTransform = fingerprintOfTransform(resize, "8.17", OWN);
  expect(askedTransform.files).toEqual([`${OWN}first`]);
  expect(fingerprintOfTransform({ ...resize, inputs: { width: 9, image: `${OWN}other` } }, "8.17", OWN).digest).toBe(askedTransform.digest);
  expect(fingerprintOfTransform(resize, "8.18", OWN).digest).not.toBe(askedTransform.digest);
});
