import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporal } from "@temporalio/proto";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { bundlePath } from "../../src/temporal/bundle";

const FOLDER = join(__dirname, "..", "fixtures", "histories");
const { History } = temporal.api.history.v1;
const read = (file: string): temporal.api.history.v1.History => History.decode(readFileSync(join(FOLDER, file)));
const files = readdirSync(FOLDER);
/** What a run may leave behind, however long it took. */
const MAX_EVENTS = 40;

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
});

it("has a history of every kind of run", () => {
  expect(files.length).toBeGreaterThanOrEqual(11);
});

it.each(files)("replays %s with today's workflow code", async (file) => {
  await Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, read(file), "replayed");
});

it("notices a change that would break runs under way", async () => {
  const history = read("job.binpb");
  const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes)!;
  scheduled.activityTaskScheduledEventAttributes!.activityType!.name = "somethingElse";
  await expect(Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, history, "changed")).rejects.toThrow(
    /[Nn]ondeterminism|determin/,
  );
});

it.each(files.filter((file) => !/^(fan-out|failed|delivery-given-up)/.test(file)))("keeps the history of %s short", (file) => {
  expect(read(file).events.length).toBeLessThanOrEqual(MAX_EVENTS);
});
