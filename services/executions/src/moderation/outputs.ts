/** Checks outputs of calls before they are recorded, shown or sent to other nodes. */
import { doubling, retry } from "@nodeloom/platform";
import type { Media } from "../clients";
import { mediaId } from "../calls/call";
import { ownerOf } from "../calls/making";
import { final } from "../calls/failures";
import type { CallOutputs } from "../run/values";
import { TIMING } from "../run/timing";
import type { CallContext, CallResult } from "../run/types";
import type { ModerationRecord, ModerationStore } from "../record/moderation";
import { contentIn, digestOf, isSaid, textsOf, type Content } from "./content";
import { hookOutageAsError, type Decide, outputRefused, type Subject } from "./decide";
import { HookUnavailable } from "./hook";
import type { Sight } from "./settings";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

export type CheckedCall = CallContext & { model?: string };

export interface OutputCheck {
  outputs: CallOutputs;
  /** Number of held files. */
  files: number;
  /** Cost and request id for the charge. */
  cost?: Pick<CallResult, "costMicroUsd" | "requestId">;
  /** How long to wait for an unavailable hook. The default is the timeout of most calls. */
  waitMs?: number;
}

export interface OutputOptions {
  decide: Pick<Decide, "refusalOf">;
  store: Pick<ModerationStore, "refusedOutput">;
  media: Pick<Media, "getObjects" | "decideHeld">;
  sees: ReadonlySet<Sight>;
  own: string;
}

export type OutputChecks = ReturnType<typeof createOutputChecks>;

export const createOutputChecks = ({ decide, store, media, sees, own }: OutputOptions) => {
  const idsOf = (call: CallContext, count: number): string[] => Array.from({ length: count }, (_, index) => mediaId(call, index));

  const contentOf = async (call: CheckedCall, { outputs, files }: OutputCheck): Promise<Content> => {
    if (isSaid(outputs)) return { texts: sees.has("texts") ? textsOf(outputs) : [], files: [] };
    if (!sees.has("files") || files === 0) return { texts: [], files: [] };
    const { objects } = await media.getObjects({ ids: idsOf(call, files), ownerId: ownerOf(call), withHeld: true });
    return { texts: [], files: objects.map(({ url, heldUrl, contentType, sha256 }) => ({ url: heldUrl || url, contentType, sha256 })) };
  };

  const decideHeld = async (call: CheckedCall, count: number, letGo: boolean): Promise<void> => {
    if (count > 0 && sees.has("files")) await media.decideHeld({ ids: idsOf(call, count), ownerId: ownerOf(call), letGo });
  };

  const refuse = async (call: CheckedCall, record: ModerationRecord): Promise<never> => {
    await decideHeld(call, record.files, false);
    throw outputRefused(record);
  };

  /** Waits for an unavailable hook, because repeating the call could cost its price again. */
  const patiently = (subject: Subject, signal: AbortSignal, waitMs: number): Promise<ModerationRecord | null> =>
    retry(() => decide.refusalOf(subject, signal), {
      pausesMs: doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS),
      shouldRetry: (error) => error instanceof HookUnavailable,
      signal,
      until: Date.now() + waitMs,
    }).catch((error: unknown) => {
      throw error instanceof HookUnavailable ? final("EXECUTION_FAILED", "its output could not be checked, and is not shown") : error;
    });

  /** Asks once without waiting, for a call that is being stopped. Stopping is retried as a whole. */
  const atOnce = (subject: Subject): Promise<ModerationRecord | null> => decide.refusalOf(subject).catch(hookOutageAsError);

  return {
    /** @throws CONTENT_REFUSED if the call's output was refused before; the call isn't repeated and its output isn't stored again */
    assertNotRefused: async (call: CheckedCall): Promise<void> => {
      const earlier = await store.refusedOutput(call.executionId, call.key);
      if (earlier) await refuse(call, earlier);
    },

    /**
     * Checks the outputs of a call. Afterwards, readers can see its files.
     * @param signal absent for a call that is being stopped
     * @throws CONTENT_REFUSED, also if an earlier attempt got that decision; EXECUTION_FAILED if the hook can't decide
     */
    check: async (call: CheckedCall, givenOutputs: OutputCheck, signal?: AbortSignal): Promise<void> => {
      const content = await contentOf(call, givenOutputs);
      if (content.texts.length + content.files.length > 0) {
        const { executionId, userId, nodeId, key, model = null } = call;
        const about = { executionId, userId, workflowSlug: null, kind: "output", key, nodeId, model } as const;
        const { texts, addresses } = contentIn(givenOutputs.outputs, own);
        const inner = [...(isSaid(givenOutputs.outputs) ? texts : []), ...addresses.keys()];
        const subject: Subject = { ...about, digest: digestOf(givenOutputs.outputs), content, inner, ...givenOutputs.cost };
        const refusal = await (signal ? patiently(subject, signal, givenOutputs.waitMs ?? TIMING.outputCheck) : atOnce(subject));
        if (refusal) await refuse(call, { ...refusal, files: givenOutputs.files });
      }
      await decideHeld(call, givenOutputs.files, true);
    },
  };
};
