import { createHash } from "node:crypto";
import {
  createInputCheck,
  createMediaUrls,
  holdItems,
  isMedia,
  planRun,
  readGraph,
  type Graph,
  type ModelTerms,
  type PlanStep,
  type RunPlan,
} from "@nodeloom/kernel";
import { media as mediaProto } from "@nodeloom/proto";
import { createReuseCalls } from "../../src/reuse/reuse-calls";
import type { CatalogModel } from "../../src/plan/model-catalog";
import type { KnownOutputs } from "../../src/plan/planner/protocol";
import type { PlannedReuse } from "../../src/plan/reruns";
import { fingerprintOfHttp, fingerprintOfModel } from "../../src/reuse/fingerprints";
import { createEarlierCalls } from "../../src/reuse/earlier-calls";
import { createPreview } from "../../src/reuse/preview";
import { answeredCall, completedCall, type CallRecord, type ReusedResult } from "../../src/run/call-record";
import type { HttpNodeCall, HttpResult, ModelCall } from "../../src/run/calls";
import { GraphRun } from "../../src/run/graph-run";
import { httpOutputs, modelOutputs, resultOfOutputs } from "../../src/run/values";
import type { CallContext, CallResult, Reuse } from "../../src/run/types";

/** Runs and reruns of graphs without a platform: models return hashes of their inputs, and outputs stay in memory. */

const OWN = "http://media.test/media/";
const urls = createMediaUrls("http://media.test", ["http://former.test"]);
export const USER = "user";
/** Wholesale price per call, in millicredits. */
export const PRICE = 1_000;
const MICRO_USD = 10_000;

const hash = (...parts: unknown[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);

const termsOf = (internalName: string, modality: string, inputSchema: ModelTerms["inputSchema"]): CatalogModel => ({
  internalName,
  modality,
  providerKind: "http-polling",
  price: { basis: "run", microUsd: MICRO_USD },
  inputSchema,
  inputSchemaJson: JSON.stringify(inputSchema),
  providerJson: "{}",
  minTier: "free",
  validate: createInputCheck(inputSchema),
});
const text = { type: "string" };
export const MODELS = new Map<string, CatalogModel>([
  ["pic", termsOf("pic", "image", { type: "object", properties: { prompt: text, image: { type: "string", format: "media" } } })],
  ["chat", termsOf("chat", "text", { type: "object", properties: { prompt: text } })],
]);

export interface Outcome {
  /** Result with contents in place of files; undefined if the run failed. */
  result: unknown;
  paid: number;
}

export interface Asking {
  graph: Graph;
  inputs: Readonly<Record<string, unknown>>;
}

/** Plans a graph; undefined if it can't run. */
export const planOf = ({ graph, inputs }: Asking, reusedOutputs?: KnownOutputs): RunPlan | undefined =>
  planRun({
    graph: readGraph(JSON.stringify(graph.nodes), JSON.stringify(graph.edges)),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map(),
    markupPermille: 1_000,
    storage: OWN,
    ...(reusedOutputs ? { knownOutputs: new Map(reusedOutputs.map(([id, ports]) => [id, new Map(ports)])) } : {}),
  }).plan;

export const createReuseWorld = () => {
  const records: CallRecord[] = [];
  const files = new Map<string, string>();
  let madeCount = 0;

  const objectsOf = (keys: readonly string[]) => ({
    objects: keys.flatMap((key) =>
      files.has(key) ? [mediaProto.StoredObject.fromPartial({ key, ownerId: USER, contentHash: files.get(key)! })] : [],
    ),
  });
  const calls = {
    completedLike: (ids: readonly string[], digests: readonly string[]) =>
      Promise.resolve(
        records.filter((one) => ids.includes(one.executionId) && one.asked !== undefined && digests.includes(one.asked.digest)),
      ),
    completed: (ids: readonly string[]) => Promise.resolve(records.filter(({ _id }) => ids.includes(_id))),
    recordEnd: (call: CallRecord) => Promise.resolve(void records.push(call)),
  };
  const media = {
    getObjectsByKey: ({ keys }: { keys: readonly string[] }) => Promise.resolve(objectsOf(keys)),
    renewObjects: ({ keys }: { keys: readonly string[] }) => Promise.resolve(objectsOf(keys)),
  };
  const find = createEarlierCalls({ calls, media: media as never, own: OWN, urls });
  const programVersion = (): Promise<string> => Promise.resolve("1");
  const nothing = (): Promise<void> => Promise.resolve();
  const takeOver = createReuseCalls({
    ...{ find, own: OWN, programVersion, calls },
    catalog: { getAny: (name) => Promise.resolve(MODELS.get(name)!) },
    execution: { nodeStarted: nothing, itemCompleted: nothing },
  });
  const preview = createPreview({ find, own: OWN, programVersion });

  /** Replaces files by their contents, independent of their addresses. */
  const contents = (value: unknown): unknown => {
    if (typeof value === "string") return value.startsWith(OWN) ? `file ${files.get(value.slice(OWN.length))}` : value;
    if (Array.isArray(value)) return value.map(contents);
    if (isMedia(value)) return contents(value.url);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, contents(member)]));
  };

  const answer = ({ model, inputs, schema }: ModelCall): CallResult => {
    const textHash = hash(model, contents(inputs), schema);
    const free = { costMicroUsd: MICRO_USD, requestId: null };
    if (MODELS.get(model)!.modality === "image") {
      const key = `k${(madeCount += 1)}`;
      files.set(key, textHash);
      return { files: [{ url: OWN + key, contentType: "image/png" }], text: null, ...free };
    }
    if (!schema) return { files: [], text: `said ${textHash}`, ...free };
    const length = Number(schema.minItems ?? 1 + (Number.parseInt(textHash[0]!, 16) % 3));
    const value = Array.from({ length }, (_, index) => `${textHash}-${index}`);
    return { files: [], text: JSON.stringify(value), json: { value }, ...free };
  };

  const callsOf = (run: GraphRun, step: PlanStep, executionId: string): { calls: (ModelCall | HttpNodeCall)[]; mapped: boolean } => {
    const { items, mapped } = run.bind(step);
    const context = (item: number): CallContext => ({
      ...{ executionId, userId: USER, nodeId: step.id, nodeIndex: 0, item, items: items.length, startedAt: 0 },
      key: `${executionId}:${step.id}:${item}`,
    });
    const calls = items.map((item, index): ModelCall | HttpNodeCall => {
      if (step.model === undefined) return { ...context(index), call: run.inputs.ofRequest(step, item) };
      const { price } = MODELS.get(step.model)!;
      const schema = step.answer ? { schema: step.answer.schema } : {};
      return { ...context(index), model: step.model, inputs: run.inputs.ofCall(step, item), price, ...schema };
    });
    return { calls, mapped };
  };

  const make = async (call: ModelCall | HttpNodeCall): Promise<CallResult | HttpResult> => {
    if ("model" in call) {
      const result = answer(call);
      records.push({ ...completedCall(call, result), asked: fingerprintOfModel(call, MODELS.get(call.model)!, OWN) });
      return result;
    }
    const result = { status: 200, body: hash(call.call) };
    records.push(answeredCall(call, result, fingerprintOfHttp(call.call)));
    return result;
  };

  const carry = async (plan: RunPlan, executionId: string, reuse?: Reuse): Promise<Outcome> => {
    const run = new GraphRun(plan);
    const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map(({ id }) => id));
    const started = new Set<string>();
    let paidCount = 0;
    const runStep = async (step: PlanStep): Promise<void> => {
      run.start(step, 0);
      if (step.model === undefined && step.type !== "http-request") return run.evaluate(step);
      const { calls, mapped } = callsOf(run, step, executionId);
      const mayTake = reuse && !reuse.again.includes(step.id) && (step.model !== undefined || reuse.requests.includes(step.id));
      const takenResults: (ReusedResult | null)[] = mayTake ? await takeOver({ sources: reuse.sources, calls }) : calls.map(() => null);
      const isPaid = (_: unknown, index: number): boolean => step.model !== undefined && takenResults[index] === null;
      paidCount += calls.filter(isPaid).length;
      const results = await Promise.all(calls.map(async (call, index) => takenResults[index]?.outputs ?? (await make(call))));
      const isTaken = (index: number): boolean => takenResults[index] !== null;
      const outputs =
        step.model === undefined
          ? httpOutputs(results as HttpResult[], { mapped })
          : modelOutputs(
              step,
              results.map((one, index) => (isTaken(index) ? resultOfOutputs(one as ReusedResult["outputs"]) : (one as CallResult))),
              { mapped },
            );
      for (const [port, value] of outputs) run.give(step.id, port, value);
    };
    try {
      for (let ready = run.readyAfter(doneIds, started); ready.length > 0; ready = run.readyAfter(doneIds, started)) {
        for (const step of ready) {
          started.add(step.id);
          await runStep(step);
          run.complete(step.id, 0);
          doneIds.add(step.id);
        }
      }
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "BindError") throw error;
      return { result: undefined, paid: paidCount };
    }
    return { result: contents(run.end(undefined).result), paid: paidCount };
  };

  return {
    records,
    files,
    carry,
    contentOf: ({ asked }: CallRecord): string => [asked!.digest, ...asked!.files.map((url) => contents(url))].join("\n"),
    /** Plans a rerun as the service would. */
    plan: async (asking: Asking, reuse: Reuse): Promise<PlannedReuse | undefined> => {
      const plan = planOf(asking);
      if (!plan) return undefined;
      const replan = (reusedOutputs: KnownOutputs): Promise<RunPlan> => Promise.resolve(planOf(asking, reusedOutputs)!);
      return preview({ plan, models: MODELS, reuse, where: { userId: USER, sources: reuse.sources, pins: true }, replan });
    },
  };
};

export type ReuseWorld = ReturnType<typeof createReuseWorld>;

/** Number of held calls, and true if it is exact. */
export const quotedOf = ({ plan, free, open }: PlannedReuse): { calls: number; exact: boolean } => {
  const isOpen = (step: PlanStep): boolean => {
    const hasRemaining = Array.from({ length: step.maxItems }, (_, item) => `${step.id}:${item}`).some((key) => !free.has(key));
    const mayBeLess = step.conditional === true || open.has(step.id);
    return step.model !== undefined && ((step.itemLimit ?? step.maxItems) > step.maxItems || (mayBeLess && hasRemaining));
  };
  return { calls: holdItems(plan).filter(({ key }) => !free.has(key)).length, exact: !plan.steps.some(isOpen) };
};
