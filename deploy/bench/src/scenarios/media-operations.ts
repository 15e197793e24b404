import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { AAC, ffmpeg, H264, photo, resized } from "../bare/media";
import { mediaWorkflow } from "../graphs";
import type { Metric } from "../metrics";
import { alternate, median } from "../rounds";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const CLIPS = 12;
const CLIP_SECONDS = 5;
const CLIP_SIZE = "640x360";
const [PHOTO_WIDTH, PHOTO_HEIGHT, SMALL_WIDTH] = [4_000, 3_000, 1_024];
const VIDEO_WIDTH = 480;
/** Rounds per side. */
const TIMES = 3;
/** Maximum ratio to the library alone, and the allowance for the rest of the run. */
const RESIZE_SHARE = 1.5;
const RESIZE_MS = 30;
const CONCAT_MS = 2_000;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** A clip with motion and sound. */
const clipArguments = (index: number, seconds: number): string[] => [
  ...["-f", "lavfi", "-i", `testsrc2=s=${CLIP_SIZE}:r=25:d=${seconds}`],
  ...["-f", "lavfi", "-i", `sine=frequency=${220 + 20 * index}:duration=${seconds}:sample_rate=48000`],
  ...[...H264, ...AAC, "-shortest"],
];

const sides = async (ours: () => Promise<number>, bare: () => Promise<number>) => {
  // Loads libraries first, so that neither side measures loading.
  await ours();
  await bare();
  const rounds = await alternate(TIMES, { ours, bare });
  return { ours: median(rounds.ours), bare: median(rounds.bare) };
};

const measureIn = async (folder: string, { api, key, local, note }: Bench): Promise<Metric[]> => {
  const upload = async (bytes: Buffer): Promise<string> => {
    const headers = { "x-api-key": key };
    const answer = await fetch(new URL("/api/media", local.baseUrl), { method: "POST", headers, body: new Uint8Array(bytes) });
    if (answer.status !== 201) throw new Error(`POST /api/media was answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { id: string }).id;
  };
  const runOf = (slug: string) => () => timed(() => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} }));

  note(`a photo of ${PHOTO_WIDTH} × ${PHOTO_HEIGHT} pixels`);
  const picture = await photo(PHOTO_WIDTH, PHOTO_HEIGHT);
  const resize = await withWorkflow(api, mediaWorkflow("image-resize", { width: SMALL_WIDTH }, [await upload(picture)]), (slug) =>
    sides(runOf(slug), () => resized(picture, SMALL_WIDTH)),
  );

  note(`${CLIPS} clips of ${CLIP_SECONDS} s`);
  const clips: string[] = [];
  for (let index = 0; index < CLIPS; index += 1) {
    await ffmpeg([...clipArguments(index, CLIP_SECONDS), `clip-${index}.mp4`], folder);
    clips.push(await upload(await readFile(join(folder, `clip-${index}.mp4`))));
  }
  const joined = await withWorkflow(api, mediaWorkflow("video-concat", {}, clips), async (slug) => {
    const run = runOf(slug);
    await run();
    return median([await run(), await run(), await run()]);
  });

  note("a minute of video");
  await ffmpeg([...clipArguments(0, CLIPS * CLIP_SECONDS), "minute.mp4"], folder);
  const minute = await upload(await readFile(join(folder, "minute.mp4")));
  const scaled = await withWorkflow(api, mediaWorkflow("video-resize", { width: VIDEO_WIDTH }, [minute]), (slug) =>
    sides(runOf(slug), () => ffmpeg(["-i", "minute.mp4", "-vf", `scale=${VIDEO_WIDTH}:-2`, ...H264, ...AAC, "small.mp4"], folder)),
  );
  return [
    {
      scenario: "j",
      name: "photo resized",
      unit: "ms",
      ...resize,
      target: { kind: "below", value: Math.round(RESIZE_SHARE * resize.bare + RESIZE_MS) },
    },
    { scenario: "j", name: "a minute of clips joined", unit: "ms", ours: joined, target: { kind: "below", value: CONCAT_MS } },
    { scenario: "j", name: "a minute of video resized", unit: "ms", ...scaled, target: { kind: "ratio at most", value: 1 / 0.8 } },
  ];
};

/** Overhead of the platform on file operations: a run, reading and storing files, and a separate process. */
export const mediaOperations: Scenario = {
  title: "runs of one media node, against sharp and ffmpeg by themselves",
  measure: async (bench: Bench) => {
    const folder = await mkdtemp(join(tmpdir(), "nodeloom-bench-"));
    try {
      return await measureIn(folder, bench);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
