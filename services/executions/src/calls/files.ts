import { actualMicroUsd, DomainError } from "@nodeloom/kernel";
import { media as mediaProto } from "@nodeloom/proto";
import { afterFailure, final, insisting, markSubmitted, readyInputs, type ModelCallsOptions } from "./model-calls";
import type { CatalogModel } from "../plan/model-catalog";
import { judge } from "./provider-failures";
import { ProviderError, type FilesProvider, type ProviderFile } from "../providers";
import { replayable } from "./replayable";
import type { CallResult, MediaFile } from "../contract/run-types";
import { createSlots, NoSlot, type Slots } from "../lifecycle/slots";
import type { CancelResult, ModelCall } from "../contract/activity-types";
import { TIMING } from "../contract/timing";

/** Calls of models whose provider answers one request with the files themselves. */

const MEDIA_READ_MS = 5_000;

/** Pauses before a file is stored again. */
const STORE_AGAIN_MS = [200, 500, 1_000, 2_000, 5_000, 5_000, 10_000, 10_000];

/** What is kept of an answer, so that a repeated attempt finds its files instead of asking for them again. */
interface Answered {
  requestId: string | null;
  count: number;
}

const handleOf = ({ count }: Answered): Record<string, string> => ({ files: String(count) });
const answeredOf = ({ requestId, handle }: { requestId: string | null; handle: Record<string, string> | null }): Answered | undefined =>
  handle === null ? undefined : { requestId: requestId || null, count: Number(handle.files) };

const mediaId = (call: ModelCall, index: number): string => `${call.executionId}-${call.nodeIndex}-${call.item}-${index}`;

async function* uploadParts(header: mediaProto.UploadHeader, bytes: AsyncIterable<Uint8Array>): AsyncIterable<mediaProto.UploadRequest> {
  yield { part: { $case: "header", value: header } };
  for await (const chunk of bytes) yield { part: { $case: "chunk", value: Buffer.from(chunk) } };
  yield { part: { $case: "end", value: {} } };
}

/** Media storage takes every file that has any bytes and is of the model's kind. */
const storageProblem = (model: string, { reason, message }: DomainError): DomainError =>
  reason === "INVALID_REQUEST"
    ? final("PROVIDER_RESPONSE_INCOMPLETE", `${model} finished without the expected output`)
    : final("EXECUTION_FAILED", `${model}: its output could not be stored: ${message}`);

/** A media service that went away comes back: the same id makes the same file. */
const isAway = (error: unknown): boolean => error instanceof DomainError && error.kind === "unavailable";

interface Request {
  call: ModelCall;
  model: CatalogModel;
  target: FilesProvider;
  /** As they are sent. */
  inputs: Record<string, unknown>;
}

export type FileCalls = ReturnType<typeof createFileCalls>;

/** Bytes of answers that one process has in memory at once, and answers that may wait for room: their connections wait, unread. */
export const ANSWER_MEMORY = { slots: 256 * 1024 * 1024, places: 2_000 };

export type FileCallsOptions = ModelCallsOptions & { memory?: Slots };

export const createFileCalls = ({
  catalog,
  provider,
  gate,
  media,
  addresses,
  downloads,
  store,
  memory = createSlots(ANSWER_MEMORY),
}: FileCallsOptions) => {
  /** Calls under way in this process. */
  const running = new Map<string, Promise<unknown>>();

  const load = async (call: ModelCall): Promise<{ model: CatalogModel; target: FilesProvider }> => {
    const model = await catalog.getAny(call.model);
    const target = provider(model);
    if (target.type !== "files") throw final("EXECUTION_FAILED", `${call.model} does not answer with files`);
    return { model, target };
  };

  const result = (call: ModelCall, model: CatalogModel, files: MediaFile[], requestId: string | null): CallResult => ({
    files,
    text: null,
    costMicroUsd: actualMicroUsd(call.price, model.inputSchema, call.inputs, { outputs: files.length }),
    requestId,
  });

  /** The files of an earlier attempt, if all of them were stored. */
  const stored = async (call: ModelCall, { count }: Answered): Promise<MediaFile[] | undefined> => {
    const ids = Array.from({ length: count }, (_, index) => mediaId(call, index));
    const { objects } = await media.getObjects({ ids, ownerId: call.userId }, { deadlineMs: MEDIA_READ_MS });
    const found = new Map(objects.map(({ id, url, contentType }): [string, MediaFile] => [id, { url, contentType }]));
    const files = ids.flatMap((id) => found.get(id) ?? []);
    return files.length === count ? files : undefined;
  };

  const storeFile = async (
    call: ModelCall,
    model: CatalogModel,
    file: ProviderFile,
    index: number,
    signal: AbortSignal,
  ): Promise<MediaFile> => {
    const placement = { id: mediaId(call, index), ownerId: call.userId, accept: [model.modality] };
    // What is paid for is worth waiting for a media service that is starting again.
    const options = { deadlineMs: TIMING.direct, signal, waitForReady: true };
    const read = "url" in file ? undefined : "read" in file ? file.read : replayable(file.bytes);
    const put = (): Promise<mediaProto.IngestResponse | mediaProto.UploadResponse> =>
      "url" in file
        ? media.ingest({ ...placement, sourceUrl: file.url, sourceOrigin: mediaProto.SourceOrigin.SOURCE_ORIGIN_PROVIDER }, options)
        : media.upload(uploadParts(placement, read!()), options);
    const { object } = await downloads.use(() => insisting(put, { pausesMs: STORE_AGAIN_MS, mayPass: isAway, signal }), {
      key: call.userId,
      signal,
      maxWaitMs: TIMING.direct,
    });
    if (!object) throw final("EXECUTION_FAILED", `${call.model}: its output could not be stored`);
    return { url: object.url, contentType: object.contentType };
  };

  /** Sends the request and stores what it is answered with. Nothing is asked for twice: see `run`. */
  const exchange = async ({ call, model, target, inputs }: Request, signal: AbortSignal): Promise<CallResult> => {
    const room = roomFor(call, signal);
    try {
      return await received(call, model, await target.run({ inputs, idempotencyKey: call.key, signal, reserve: room.reserve }), signal);
    } finally {
      room.release();
    }
  };

  /** Room in this process's memory for one answer. */
  const roomFor = (call: ModelCall, signal: AbortSignal): { reserve: (bytes: number) => Promise<void>; release: () => void } => {
    let release = (): void => undefined;
    return {
      reserve: async (bytes) => {
        try {
          release = await memory.enter({ key: call.userId, weight: bytes, signal, maxWaitMs: TIMING.direct });
        } catch (error) {
          if (!(error instanceof NoSlot)) throw error;
          throw new ProviderError("ambiguous", "there was no room for the provider's answer");
        }
      },
      release: () => release(),
    };
  };

  /** Stores what the provider answered. */
  const received = async (
    call: ModelCall,
    model: CatalogModel,
    { files, requestId }: Awaited<ReturnType<FilesProvider["run"]>>,
    signal: AbortSignal,
  ): Promise<CallResult> => {
    await insisting(() => store.recordSubmission(call.key, requestId ?? "", handleOf({ requestId, count: files.length })));
    try {
      const kept = await Promise.all(files.map((file, index) => storeFile(call, model, file, index, signal)));
      return result(call, model, kept, requestId);
    } catch (error) {
      signal.throwIfAborted();
      // The answer was there once; it is not asked for again.
      if (error instanceof DomainError) throw storageProblem(call.model, error);
      if (error instanceof ProviderError || error instanceof NoSlot) throw final("EXECUTION_FAILED", `${call.model}: ${error.message}`);
      throw error;
    }
  };

  const claimed = async (request: Request, signal: AbortSignal): Promise<CallResult> => {
    const { call, model } = request;
    const claim = await store.claimSubmission(call.key);
    if (!claim.claimed) {
      const earlier = answeredOf(claim);
      const files = earlier && (await stored(call, earlier));
      if (files) return result(call, model, files, earlier.requestId);
      throw final("PROVIDER_SUBMIT_FAILED", `${call.model}: an earlier request may have reached the provider; it is not sent twice`);
    }
    const release = (): Promise<void> => insisting(() => store.releaseSubmission(call.key));
    const notReceived = await markSubmitted(store, call).catch(async (error: unknown) => {
      // Nothing was sent.
      await release();
      throw error;
    });
    try {
      return await exchange(request, signal);
    } catch (error) {
      if (error instanceof ProviderError && judge(error, false).tookNothing) {
        await notReceived();
        await release();
      }
      throw error;
    }
  };

  return {
    /**
     * Asks for files and stores them. Such providers can't recognise a repeated request, so each call is sent once: a
     * request whose fate is unknown is not sent again, and a crash after the answer finds the stored files.
     * @param until when no further attempt is made, in milliseconds since the epoch
     * @throws TryAgain when the provider asked to be called later
     */
    run: async (call: ModelCall, signal: AbortSignal, until: number): Promise<CallResult> => {
      const { model, target } = await load(call);
      const inputs = await readyInputs({ media, addresses }, model, call);
      signal.throwIfAborted();
      const options = { key: call.userId, signal, until: until - TIMING.submitReserve };
      const work = gate(model).pass(() => claimed({ call, model, target, inputs }, signal), options);
      running.set(call.key, work);
      try {
        return await work;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        if (error.kind === "incomplete") throw final("PROVIDER_RESPONSE_INCOMPLETE", `${call.model}: ${error.message}`);
        throw afterFailure(call, error, false, until);
      } finally {
        running.delete(call.key);
      }
    },

    /**
     * What became of a call that was given up: a request that was never sent can't be any more; of one that was, the
     * provider can't be told, and goes on; what had been stored is kept.
     */
    stop: async (call: ModelCall): Promise<CancelResult> => {
      await running.get(call.key)?.catch(() => undefined);
      const claim = await store.claimSubmission(call.key);
      if (claim.claimed) return { report: "stopped", finished: null };
      const earlier = answeredOf(claim);
      const files = earlier && (await stored(call, earlier));
      if (!files) return { report: "could_not_stop", finished: null };
      const { model } = await load(call);
      return { report: "stopped", finished: result(call, model, files, earlier.requestId) };
    },
  };
};
