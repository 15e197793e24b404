import { DomainError, isUnavailable, saidMicroUsd } from "@nodeloom/kernel";
import { createSlots, NoSlot, pause, type Slots } from "@nodeloom/platform";
import type { CancelResult, ModelCall } from "../run/calls";
import type { CallResult } from "../run/types";
import { TIMING } from "../run/timing";
import { files as filesOf } from "../plan/files";
import type { CatalogModel } from "../plan/model-catalog";
import { type FilesProvider, pointer, ProviderError, type Submission } from "@nodeloom/providers";
import { madeResult, mediaId, notStored, readyCall, target, withFreshFiles, type CallOptions, type ReadyCall } from "./call";
import type { CallClock } from "./clock";
import { afterFailure, final, MAY_TRY_ANOTHER, QUOTES_ADDRESS } from "./failures";
import type { Spool } from "./spool";
import { createStoreMade, type Spooling } from "./stored-files";

/** Makes calls whose provider returns the output in its response. */

/** Record of a response. A repeated attempt uses it to find the stored files instead of calling again. */
interface ResponseRecord {
  requestId: string | null;
  count: number;
  /** Cost reported by the provider, if the price depends on it. */
  costMicroUsd: number | undefined;
  /** True if a process may have the files on its disk, because media was unavailable. */
  isSpooled?: boolean;
}

const submissionOf = ({ requestId, count, costMicroUsd, isSpooled }: ResponseRecord): Submission => ({
  requestId: requestId ?? "",
  handle: {
    files: String(count),
    ...(costMicroUsd === undefined ? {} : { cost: String(costMicroUsd) }),
    ...(isSpooled ? { spooled: "true" } : {}),
  },
});
const answeredOf = ({ requestId, handle }: Submission): ResponseRecord | undefined =>
  handle === undefined
    ? undefined
    : {
        requestId: requestId || null,
        count: Number(handle.files),
        costMicroUsd: handle.cost === undefined ? undefined : Number(handle.cost),
        isSpooled: handle.spooled !== undefined,
      };

/** Storage accepts every nonempty file of the model's kind, so a rejection counts as the provider's failure. */
const storageProblem = (call: ModelCall, { reason, message }: DomainError): DomainError =>
  reason === "INVALID_REQUEST"
    ? final("PROVIDER_RESPONSE_INCOMPLETE", `${call.model} finished without the expected output`, MAY_TRY_ANOTHER)
    : final("EXECUTION_FAILED", `${notStored(call)}: ${message}`, QUOTES_ADDRESS);

/** Limits of one process: bytes of responses in memory, and responses that can wait for memory. Waiting responses aren't read. */
export const ANSWER_MEMORY = { concurrency: 256 * 1024 * 1024, queueLimit: 2_000 };

/** Pause between checks for files that a process has on its disk. */
const SPOOLED_PAUSE_MS = 5_000;

export type FilesOptions = CallOptions & { memory?: Slots; spool?: Pick<Spool, "keep" | "store" | "leave"> };

export type Files = ReturnType<typeof createFiles>;

export const createFiles = ({ memory = createSlots(ANSWER_MEMORY), spool, ...options }: FilesOptions) => {
  const { gate, media, storage = media, downloads, submissions } = options;
  const store = createStoreMade(storage, downloads);

  /** Returns the result of an earlier attempt if all its files were stored. */
  const stored = async (call: ModelCall, model: () => Promise<CatalogModel>, answer: Submission): Promise<CallResult | undefined> => {
    const earlier = answeredOf(answer);
    if (!earlier) return undefined;
    const ids = Array.from({ length: earlier.count }, (_, index) => mediaId(call, index));
    const filesById = await filesOf(storage, ids, call.userId);
    const files = ids.flatMap((id) => filesById.get(id) ?? []);
    if (files.length !== earlier.count) return undefined;
    const result = madeResult(call, await model(), { files: [], text: null }, { files, requestId: earlier.requestId });
    return { ...result, costMicroUsd: earlier.costMicroUsd ?? result.costMicroUsd };
  };

  /**
   * Like `stored`. If a process may have the files on its disk, waits until it has stored them. Gives up if media is available for long
   * without the files, because the disk is lost.
   */
  const storedLater = async (
    call: ModelCall,
    model: () => Promise<CatalogModel>,
    answer: Submission,
    { signal, clock }: { signal: AbortSignal; clock: CallClock },
  ): Promise<CallResult | undefined> => {
    if (!answeredOf(answer)?.isSpooled) return stored(call, model, answer);
    let availableSince: number | undefined;
    for (;;) {
      try {
        const result = await stored(call, model, answer);
        if (result) return result;
        availableSince ??= Date.now();
        if (Date.now() - availableSince > TIMING.spoolLost) return undefined;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        availableSince = undefined;
      }
      await clock.waiting(() => pause(SPOOLED_PAUSE_MS, signal));
      signal.throwIfAborted();
    }
  };

  const roomFor = (call: ModelCall, signal: AbortSignal): { reserve: (bytes: number) => Promise<void>; release: () => void } => {
    let release = (): void => undefined;
    return {
      reserve: async (bytes) => {
        try {
          release = await memory.enter({ key: call.userId, weight: bytes, signal, maxWaitMs: TIMING.run });
        } catch (error) {
          if (!(error instanceof NoSlot)) throw error;
          throw new ProviderError("ambiguous", "there was no room for the provider's answer");
        }
      },
      release: () => release(),
    };
  };

  const received = async (
    { call, model }: ReadyCall<"files">,
    providerResult: Awaited<ReturnType<FilesProvider["run"]>>,
    { signal, spooling }: { signal: AbortSignal; spooling: Spooling | undefined },
  ): Promise<CallResult> => {
    const { requestId } = providerResult;
    if (model.modality === "text") return madeResult(call, model, providerResult, { files: [], requestId });
    try {
      const files = await Promise.all(
        providerResult.files.map((file, index) => store(call, model, file, index, { signal, ...(spooling ? { spooling } : {}) })),
      );
      return madeResult(call, model, providerResult, { files, requestId });
    } catch (error) {
      signal.throwIfAborted();
      // The provider has already responded, so the request isn't repeated.
      if (error instanceof DomainError) throw storageProblem(call, error);
      if (error instanceof ProviderError || error instanceof NoSlot)
        throw final("EXECUTION_FAILED", `${call.model}: ${error.message}`, {
          ...QUOTES_ADDRESS,
          ...(error instanceof ProviderError ? { fault: "provider" } : {}),
        });
      throw error;
    }
  };

  const exchange = async (
    request: ReadyCall<"files">,
    record: (answer: Submission) => Promise<void>,
    { signal, clock }: { signal: AbortSignal; clock: CallClock },
  ): Promise<CallResult> => {
    const { call, provider, inputs } = request;
    const room = roomFor(call, signal);
    try {
      const answer = await provider.run({ inputs, idempotencyKey: call.key, signal, reserve: room.reserve });
      if (answer.files.length === 0 && request.model.modality !== "text")
        throw new ProviderError("incomplete", "the provider's answer has no files");
      const costMicroUsd = saidMicroUsd(call.price, (place) => pointer(answer.answer, place));
      const answered: ResponseRecord = { requestId: answer.requestId, count: answer.files.length, costMicroUsd };
      await record(submissionOf(answered));
      const spooling = spool && { spool, clock, noted: () => record(submissionOf({ ...answered, isSpooled: true })) };
      return await received(request, answer, { signal, spooling });
    } finally {
      room.release();
    }
  };

  return {
    /**
     * Requests files and stores them, or requests a text. These providers don't recognize repeated requests, so each request is sent once.
     * If its outcome is unknown, it isn't sent again. After a crash, the stored files are found.
     * @param clock timeouts over all attempts
     * @throws TryAgain if the provider asked to be called later
     */
    run: async (call: ModelCall, signal: AbortSignal, clock: CallClock): Promise<CallResult> => {
      const ready = await readyCall(options, call, "files");
      signal.throwIfAborted();
      // A text request has no other effect, so it is repeated after a crash.
      const isText = ready.model.modality === "text";
      const once = (request: ReadyCall<"files">) => ({
        send: (record: (answer: Submission) => Promise<void>) => exchange(request, record, { signal, clock }),
        resume: (answer: Submission) => storedLater(call, () => Promise.resolve(ready.model), answer, { signal, clock }),
        signal,
      });
      try {
        return await withFreshFiles(ready, (inputs) => {
          const request = { ...ready, inputs };
          const send = (): Promise<CallResult> =>
            isText
              ? submissions.send(ready.call, () => exchange(request, () => Promise.resolve(), { signal, clock }))
              : submissions.once(ready.call, once(request));
          return gate(ready.model).pass(send, { key: call.userId, signal, clock });
        });
      } catch (error) {
        throw error instanceof ProviderError ? afterFailure(call, error, false, clock) : error;
      }
    },

    /**
     * Stops a call. A request that hasn't been sent is blocked. A sent request can't be withdrawn and continues at the provider. Stored
     * files are kept.
     */
    stop: async (call: ModelCall): Promise<CancelResult> => {
      if ((await options.catalog.getAny(call.model)).modality === "text") return { report: "could_not_stop", finished: null };
      const answer = await submissions.close(call.key);
      if (answer === undefined) return { report: "stopped", finished: null };
      const finished = answer && (await stored(call, async () => (await target(options, call, "files")).model, answer));
      return { report: finished ? "stopped" : "could_not_stop", finished: finished ?? null };
    },
  };
};
