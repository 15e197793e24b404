/** Checks inputs before a run starts, and inputs that calls receive while it runs. */
import { BindError } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import type { Media } from "../clients";
import type { PlannedRun } from "../plan/planning";
import type { ModelCall } from "../run/calls";
import { GraphRun } from "../run/graph-run";
import type { ModerationStore } from "../record/moderation";
import { contentIn, digestOf, hashOf, type ShownFile } from "./content";
import { hookOutageAsError, type Decide, inputRefused, promptRefused } from "./decide";

export interface InputOptions {
  decide: Pick<Decide, "refusalOf">;
  store: Pick<ModerationStore, "passed">;
  media: Pick<Media, "getObjectsByKey">;
  /** Address prefix of the platform's own storage. */
  own: string;
}

/** Returns the inputs of a plan's model calls that planning knows. The remaining text is written by the author. */
const promptsOf = ({ plan }: Pick<PlannedRun, "plan">): unknown[] => {
  const run = new GraphRun(plan);
  const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map(({ id }) => id));
  const ready = new Set(run.readyAfter(doneIds, new Set()));
  return plan.steps.flatMap((step): unknown[] => {
    if (step.model === undefined) return [];
    const writtenInputs = [step.literals, ...(step.fallback ?? []).map(({ literals }) => literals)];
    if (!ready.has(step)) return writtenInputs;
    try {
      return run.inputs.uncounted(() => run.bind(step).items.map((item) => run.inputs.ofCall(step, item)));
    } catch (error) {
      // The run itself reports its binding error.
      if (error instanceof BindError) return writtenInputs;
      throw error;
    }
  });
};

export type InputChecks = ReturnType<typeof createInputChecks>;

export const createInputChecks = ({ decide, store, media, own }: InputOptions) => {
  const filesAt = async (addresses: ReadonlyMap<string, string | null>): Promise<ShownFile[]> => {
    const keys = [...addresses.keys()].filter((address) => address.startsWith(own)).map((address) => address.slice(own.length));
    const stored = await inMediaBatches(keys, async (batch) => (await media.getObjectsByKey({ keys: batch })).objects);
    const objectsByUrl = new Map(stored.map((object) => [own + object.key, object]));
    return [...addresses].map(([url, sentType]) => {
      const object = objectsByUrl.get(url);
      return { url, contentType: object?.contentType ?? sentType, sha256: object?.sha256 ?? null };
    });
  };

  return {
    /** Checks the inputs of a run and of its planned calls before credits are held. @throws CONTENT_REFUSED, SERVICE_UNAVAILABLE */
    run: async ({ executionId, target, runner }: executions.RunRequest, planned: PlannedRun): Promise<void> => {
      const { texts, addresses } = contentIn([JSON.parse(planned.inputsJson || "{}"), promptsOf(planned)], own);
      if (texts.length === 0 && addresses.size === 0) return;
      const model = target?.target?.$case === "model" ? target.target.value : null;
      const about = { executionId, userId: runner?.userId ?? "", workflowSlug: planned.workflowSlug, kind: "input", key: null } as const;
      const content = { texts, files: await filesAt(addresses) };
      const subject = { ...about, nodeId: null, model, digest: digestOf(content), content };
      const refusal = await decide.refusalOf(subject).catch(hookOutageAsError);
      if (refusal) throw inputRefused(refusal);
    },

    /** Checks texts and files of a call that the check before the run didn't include. @throws CONTENT_REFUSED, SERVICE_UNAVAILABLE */
    prompt: async (call: ModelCall, signal: AbortSignal): Promise<void> => {
      const { executionId, userId, nodeId, key, model, inputs } = call;
      const { texts, addresses } = contentIn(inputs, own);
      const contents = [...texts, ...addresses.keys()];
      if (contents.length === 0) return;
      const passed = await store.passed(executionId, contents.map(hashOf));
      const isNew = (one: string): boolean => !passed.has(hashOf(one));
      if (!contents.some(isNew)) return;
      const about = { executionId, userId, workflowSlug: null, kind: "input", key, nodeId, model } as const;
      const files = await filesAt(new Map([...addresses].filter(([address]) => isNew(address))));
      const content = { texts: texts.filter(isNew), files };
      const refusal = await decide.refusalOf({ ...about, digest: digestOf(content), content }, signal).catch(hookOutageAsError);
      if (refusal) throw promptRefused(refusal);
    },
  };
};
