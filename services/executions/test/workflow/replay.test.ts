import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporal } from "@temporalio/proto";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { checkHistory, HISTORY_BOUNDS } from "../../src/workflow/workflows/calls/schedule";
import { bundlePath } from "../support/temporal";

const FOLDER = join(__dirname, "..", "fixtures", "histories");
const { History } = temporal.api.history.v1;
const read = (file: string): temporal.api.history.v1.History => History.decode(readFileSync(join(FOLDER, file)));
const files = readdirSync(FOLDER);
/** Maximum length of a history, however long the run took. */
const MAX_EVENTS = 40;

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
});

it("has a history of every kind of run", () => {
  expect(files.length).toBeGreaterThanOrEqual(12);
});

it.each(files)("replays %s with the current workflow code", async (file) => {
  await Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, read(file), "replayed");
});

it("leaves nothing of one run in another with the same modules", async () => {
  const all = [...files, ...files.toReversed()].map((file, index) => ({ history: read(file), workflowId: `replayed-${index}` }));
  const failures: unknown[] = [];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: { codePath: bundlePath } }, all))
    if (error) failures.push(error);
  expect(failures).toEqual([]);
});

it("detects a change that would break running runs", async () => {
  const history = read("job-handed-over.binpb");
  const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes)!;
  scheduled.activityTaskScheduledEventAttributes!.activityType!.name = "somethingElse";
  await expect(Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, history, "changed")).rejects.toThrow(
    /[Nn]ondeterminism|determin/,
  );
});

it("ends a run cleanly, with the reason, before its history is too long for Temporal", async () => {
  const history = read("job-handed-over.binpb");
  const replay = (): Promise<void> => Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, history, "full");
  const sizeBy = (bytes: number): void => {
    for (const { workflowTaskStartedEventAttributes: task } of history.events) if (task) task.historySizeBytes = bytes as never;
  };
  sizeBy(HISTORY_BOUNDS.bytes - 1);
  await replay();
  // The current code would settle, but the history submits.
  sizeBy(HISTORY_BOUNDS.bytes);
  await expect(replay()).rejects.toThrow(/[Nn]ondeterminism|determin/);
});

it.each([
  [{ historyLength: HISTORY_BOUNDS.events, historySize: 1 }, true],
  [{ historyLength: 1, historySize: HISTORY_BOUNDS.bytes }, true],
  [{ historyLength: HISTORY_BOUNDS.events - 1, historySize: HISTORY_BOUNDS.bytes - 1 }, false],
])("treats a history of %p as too long: %p", (info, isTooLong) => {
  const check = (): void => checkHistory(info);
  if (isTooLong) expect(check).toThrow(`its history holds ${info.historyLength} events of ${info.historySize} bytes`);
  else expect(check).not.toThrow();
});

it.each(files.filter((file) => !/(fan-out|extended|failed|delivery-given-up)/.test(file)))("keeps the history of %s short", (file) => {
  expect(read(file).events.length).toBeLessThanOrEqual(MAX_EVENTS);
});
