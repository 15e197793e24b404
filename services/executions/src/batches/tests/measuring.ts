/** Measures the results of a test batch after its runs: files in the transform service, the rest by direct runs of models. */
import { randomUUID } from "node:crypto";
import {
  DomainError,
  isRecord,
  measurementTasks,
  readVote,
  type MediaUrls,
  type Measurement,
  type MeasurementTask,
  type TestedRun,
} from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { Cancellation } from "../../accept/cancellation";
import type { Runs } from "../../accept/runs";
import type { Media, Transform } from "../../clients";
import type { ModelCatalog } from "../../plan/model-catalog";
import type { Stores } from "../../record/stores";
import type { BatchRecord, ItemInput } from "../../run/batch";
import type { ItemMeasurements } from "../../run/batch-tests";
import { metadataOf, type ExecutionView } from "../../run/record";
import type { Runner } from "../../run/runner";
import { isFinal } from "../../run/states";
import { TIMING } from "../../run/timing";
import { isCertain, isTemporary } from "../begin-item";
import { createContactSheets } from "./contact-sheets";
import { callId, judgeCall, restOf, textCall, type MeasuringCall } from "./measuring-calls";
import { resultOf, type ReadTested, type TestedItem } from "./reading";

export interface MeasuringOptions {
  stores: Pick<Stores, "batches" | "payloads">;
  readTested: ReadTested;
  catalog: Pick<ModelCatalog, "get">;
  runs: Pick<Runs, "run">;
  cancellation: Pick<Cancellation, "cancel">;
  media: Pick<Media, "getObjects" | "getObjectsByKey">;
  transform: Pick<Transform, "measure" | "run">;
  urls: MediaUrls;
}

/** Tests of one batch that are measured concurrently. */
const TESTS_AT_ONCE = 4;
const NOTHING: ItemMeasurements = { json: "{}", runs: [], millicredits: 0, isOver: false };

/** Thrown if a measurement isn't there yet. */
class Later {}
/** Thrown if the item was erased meanwhile. */
class Erased {}

const problemOf = ({ reason, message }: { reason: string; message: string }): Measurement => ({ problem: `${reason}: ${message}` });

interface Context {
  batch: BatchRecord;
  item: TestedItem;
  runner: Runner;
  /** Executions whose calls are reused if they are equal, nearest first. */
  sources: readonly string[];
}

interface Measured {
  measurement: Measurement;
  /** The run that measured; absent for files. */
  run?: ExecutionView;
}

export type Measuring = ReturnType<typeof createMeasuring>;

export const createMeasuring = (options: MeasuringOptions) => {
  const { stores, readTested, catalog, runs, cancellation, media, transform, urls } = options;
  const { batches, payloads } = stores;
  const contactSheet = createContactSheets(options);

  const cancelRuns = async (ids: readonly string[], userId: string): Promise<void> => {
    const cancelRun = (id: string) =>
      cancellation.cancel(id, userId).catch((error: unknown) => {
        // It was never started.
        if (!(error instanceof DomainError) || error.reason !== "EXECUTION_NOT_FOUND") throw error;
      });
    await Promise.all(ids.map(cancelRun));
  };

  const sourcesOf = async ({ row }: TestedItem): Promise<readonly string[]> => {
    const json = await payloads.getText(row.input);
    return json === null ? [] : ((JSON.parse(json) as ItemInput).sources ?? []);
  };

  /** Starts or joins a run, and waits a moment for its end. @throws Later; DomainError if the run was refused */
  const runCall = async ({ batch, item, runner, sources }: Context, call: MeasuringCall, spent: number): Promise<ExecutionView> => {
    const earlier = sources.map((source) => callId(source, call));
    const { row } = await runs.run(
      executions.RunRequest.fromPartial({
        executionId: callId(item.executionId, call),
        target: { target: { $case: "model", value: call.model }, schemaJson: call.schemaJson },
        runner: { ...runner, webhookUrl: "", webhookEvents: [], endpointEvents: [] },
        inputsJson: call.inputsJson,
        mode: executions.RunMode.RUN_MODE_SYNC,
        waitMs: TIMING.measuringWait,
        maxMillicredits: restOf(item.test.maxCredits, spent),
        requestToken: randomUUID(),
        noQueue: true,
        metadata: metadataOf(batch.metadata),
        retentionDays: batch.retentionDays,
        ...(earlier.length > 0 ? { rerun: { sources: earlier, otherGraph: true } } : {}),
      }),
    );
    if (!isFinal(row)) throw new Later();
    return row;
  };

  const ofEnd = async (row: ExecutionView, read: (result: Record<string, unknown>) => Measurement): Promise<Measurement> => {
    if (row.status !== "completed")
      return problemOf({ reason: row.error?.code ?? "EXECUTION_FAILED", message: row.error?.message ?? `its run is ${row.status}` });
    const result = await resultOf(payloads, row);
    return isRecord(result) ? read(result) : { problem: "its result was deleted" };
  };

  /** @throws DomainError if the owner has no such file */
  const goldenKey = async (golden: string, ownerId: string): Promise<string> => {
    const keys = urls.keysIn(JSON.stringify(golden));
    const { objects } = keys.length > 0 ? await media.getObjectsByKey({ keys }) : await media.getObjects({ ids: [golden], ownerId });
    const object = objects.find((one) => one.ownerId === ownerId);
    if (object) return object.key;
    throw new DomainError("not_found", "NOT_FOUND", "the golden file isn't one of your files: it was deleted, or its URL is wrong");
  };

  const measureFile = async ({ batch }: Context, task: MeasurementTask & { type: "file" }): Promise<Measurement> => {
    const [key = ""] = urls.keysIn(JSON.stringify(task.url));
    const golden = task.golden === undefined ? "" : await goldenKey(task.golden, batch.userId);
    const request = { key, userId: batch.userId, loudness: task.loudness, goldenKey: golden };
    const { loudness, ssim, hash } = await transform.measure(request, { deadlineMs: TIMING.measureFile });
    return {
      ...(loudness === undefined ? {} : { loudness }),
      ...(ssim === undefined ? {} : { ssim }),
      ...(hash === undefined ? {} : { hash }),
    };
  };

  /** @throws Later; DomainError if nothing can be measured */
  const make = async (context: Context, task: MeasurementTask, spent: number, note: (id: string) => Promise<void>): Promise<Measured> => {
    if (task.type === "known") return { measurement: task.measurement };
    if (task.type === "file") return { measurement: await measureFile(context, task) };
    const { executionId, test } = context.item;
    const showVideo = (url: string): Promise<string> => contactSheet(url, executionId, context.batch.userId);
    const call = task.type === "text" ? textCall(task.url) : await judgeCall(catalog, task.question, showVideo);
    // It is noted first, so that a cancelled batch cancels it.
    await note(callId(executionId, call));
    const run = await runCall(context, call, spent);
    const read = (result: Record<string, unknown>): Measurement => {
      if (task.type === "text") return typeof result.text === "string" ? { text: result.text } : { problem: "no text was recognized" };
      const vote = readVote(test.expect[task.index]!.judge!, task.place, result.json);
      return vote ? { vote } : { problem: "the judge's answer has no verdict" };
    };
    return { measurement: await ofEnd(run, read), run };
  };

  /** Makes a test's measurements in order, and stores each. @returns true if none is missing @throws Erased */
  const measureItem = async (context: Context, tasks: readonly MeasurementTask[], isLate: boolean): Promise<boolean> => {
    const { batch, item } = context;
    let { json, runs: ids, millicredits } = item.row.measured ?? NOTHING;
    const measurements = JSON.parse(json) as Record<string, Measurement>;
    const store = async (isOver: boolean): Promise<void> => {
      json = JSON.stringify(measurements);
      if (!(await batches.noteMeasured(batch._id, item.row.index, { json, runs: ids, millicredits, isOver }))) throw new Erased();
    };
    const note = async (id: string): Promise<void> => {
      if (ids.includes(id)) return;
      ids = [...ids, id];
      await store(false);
    };
    const chargedRuns = new Set<string>();
    const missing = tasks.filter(({ key }) => !Object.hasOwn(measurements, key));
    for (const task of missing) {
      try {
        const { measurement, run } = await make(context, task, millicredits, note);
        measurements[task.key] = measurement;
        if (run && !chargedRuns.has(run._id)) {
          chargedRuns.add(run._id);
          millicredits += run.millicredits;
        }
      } catch (error) {
        const isKnown = isCertain(error) && !isTemporary(error);
        if (!isKnown && !(error instanceof Later || error instanceof DomainError)) throw error;
        if (!isKnown && !isLate) return false;
        measurements[task.key] = isKnown ? problemOf(error) : { problem: "there was no answer in time: run the tests again" };
      }
      await store(false);
    }
    if (isLate) await cancelRuns(ids, batch.userId);
    await store(true);
    return true;
  };

  return {
    /**
     * Measures the results of a batch in which no run is left. Idempotent; it returns after a short wait, and goes on when it is called
     * again. @returns true if nothing is left to measure
     */
    measure: async (batch: BatchRecord, runner: Runner): Promise<boolean> => {
      if (!batch.test) return true;
      const items = await readTested(batch);
      const compared = batch.test.against === undefined ? null : await batches.find(batch.test.against);
      const goldens = new Map<string, TestedRun>(compared ? (await readTested(compared)).map(({ test, run }) => [test.name, run]) : []);
      const openItems = items.flatMap((item) => {
        if (item.row.isErased || item.row.measured?.isOver) return [];
        const tasks = measurementTasks(item.test, item.run, goldens.get(item.test.name));
        return tasks.length === 0 ? [] : [{ item, tasks }];
      });
      if (openItems.length === 0) return true;
      const since = await batches.beginMeasuring(batch._id, new Date());
      const isLate = Date.now() - since.getTime() > TIMING.measuring;
      let isOver = true;
      const work = async (): Promise<void> => {
        for (let next = openItems.shift(); next; next = openItems.shift()) {
          const { item, tasks } = next;
          const context = { batch, item, runner, sources: await sourcesOf(item) };
          const isMeasured = await measureItem(context, tasks, isLate).catch((error: unknown) => {
            if (error instanceof Erased) return true;
            throw error;
          });
          if (!isMeasured) isOver = false;
        }
      };
      await Promise.all(Array.from({ length: TESTS_AT_ONCE }, work));
      return isOver;
    },

    /** Cancels the runs that measure a batch. */
    cancel: async ({ _id, userId, total, test }: BatchRecord): Promise<void> => {
      if (test?.measuringSince === undefined) return;
      const rows = await batches.rowsFrom(_id, 0, total);
      await cancelRuns(
        rows.flatMap(({ measured }) => (measured && !measured.isOver ? measured.runs : [])),
        userId,
      );
    },
  };
};
