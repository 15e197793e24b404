import { DomainError, fileOf, isMediaId, isUnavailable, type MediaValue, member } from "@nodeloom/kernel";
import { doubling, NoSlot, pause, retry, type Slots, uploadParts } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import { mayPass, type ProviderFile } from "@nodeloom/providers";
import type { CallClock } from "./clock";
import type { Spool } from "./spool";
import { mediaId, notStored, placementOf, storeInTurn } from "./call";
import { final, inputFailed } from "./failures";
import type { Media } from "../clients";
import { files } from "../plan/files";
import type { CatalogModel } from "../plan/model-catalog";
import type { FileToKeep, ModelCall } from "../run/calls";
import { TIMING } from "../run/timing";

/** Stores files of a result. The result contains their ids, addresses or data URLs. */

const HTTP_URL = /^https?:/i;
const DATA_URL = /^data:/i;
const SHOWN_CHARS = 60;

/** Returns a reference for messages, without the data of data URLs. */
const shownReference = (reference: string): string => {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(reference)?.[0];
  if (scheme !== undefined && !HTTP_URL.test(reference)) return `a ${scheme} address`;
  return JSON.stringify(reference.length > SHOWN_CHARS ? `${reference.slice(0, SHOWN_CHARS)}…` : reference);
};

const notAFile = ({ port, family, reference }: FileToKeep): DomainError =>
  inputFailed(`${port}: ${shownReference(reference)} is not ${fileOf(family)}: an http(s) address or a media id`);

/** Maps a failed fetch to an error. If a service of the platform is unavailable, the fetch is retried. */
const asFailure = (error: unknown, { port }: FileToKeep): unknown =>
  error instanceof NoSlot ||
  (error instanceof DomainError && (error.kind === "failed" || error.kind === "invalid" || error.kind === "conflict"))
    ? error instanceof NoSlot
      ? final("EXECUTION_FAILED", `${port}: ${error.message}`)
      : inputFailed(`${port}: ${error.message}`)
    : error;

export type KeepFile = ReturnType<typeof createKeepFile>;

/** Stores one file of a result: a file of the user by id, any http(s) address, or a data URL that comes from the caller or the graph. */
export const createKeepFile = (media: Pick<Media, "ingest" | "getObjects">, downloads: Slots) => {
  const byId = async (call: FileToKeep): Promise<MediaValue> => {
    const [storedFile] = (await files(media, [call.reference], call.userId)).values();
    const file = storedFile ?? (member(call.authorFiles ?? {}, call.reference) as MediaValue | undefined);
    if (!file) throw inputFailed(`${call.port}: you have no media file ${call.reference}`);
    return file;
  };

  const fetched = (call: FileToKeep, signal: AbortSignal): Promise<MediaValue> => {
    const { userId, reference: sourceUrl, family } = call;
    const sourceOrigin = mediaProto.SourceOrigin.SOURCE_ORIGIN_USER;
    const put = () =>
      media.ingest(
        { id: mediaId(call, 0), ownerId: userId, sourceUrl, accept: [family], sourceOrigin, making: undefined },
        { deadlineMs: TIMING.keepFile, signal },
      );
    return storeInTurn(downloads, put, { userId, signal, problem: `${call.port}: the file could not be stored` });
  };

  return async (call: FileToKeep, signal: AbortSignal): Promise<MediaValue> => {
    if (isMediaId(call.reference)) return byId(call);
    if (!HTTP_URL.test(call.reference) && !(call.given && DATA_URL.test(call.reference))) throw notAFile(call);
    try {
      return await fetched(call, signal);
    } catch (error) {
      throw asFailure(error, call);
    }
  };
};

/** Stores model outputs, and retries while media is unavailable. */

const FIRST_PAUSES_MS = [200, 500, 1_000, 2_000];
const LATER_PAUSES_MS = [5_000, 5_000, 10_000, 10_000];
const SPOOL_PAUSES_MS = [5_000, 30_000] as const;

/** How a call keeps files on disk while media is unavailable. */
export interface Spooling {
  spool: Pick<Spool, "keep" | "store" | "leave">;
  clock: CallClock;
  /** Records that the files can be on disk, so that a later attempt waits for them. */
  noted(): Promise<void>;
}

/** Stores a file that is on disk as soon as media is available. The call's timeouts don't include this wait. */
const storeSpooled = async (
  id: string,
  storeFile: () => Promise<MediaValue>,
  { spool, clock }: Spooling,
  signal: AbortSignal | undefined,
) => {
  const pauses = doubling(...SPOOL_PAUSES_MS);
  try {
    for (;;) {
      try {
        return await clock.waiting(async () => {
          await pause(pauses.next().value, signal);
          signal?.throwIfAborted();
          return storeFile();
        });
      } catch (error) {
        if (!isUnavailable(error)) throw error;
      }
    }
  } finally {
    spool.leave(id);
  }
};

export const createStoreMade =
  (media: Pick<Media, "ingest" | "upload" | "getObjects">, downloads: Slots) =>
  async (
    call: ModelCall,
    model: CatalogModel,
    file: ProviderFile,
    index: number,
    { signal, spooling }: { signal?: AbortSignal; spooling?: Spooling } = {},
  ): Promise<MediaValue> => {
    const { sourceOrigin, ...placement } = placementOf(call, model, index);
    const callOptions = { deadlineMs: TIMING.direct, ...(signal ? { signal } : {}) };
    const stripMetadata = "read" in file ? file.stripMetadata : undefined;
    const readBytes = "url" in file ? undefined : "read" in file ? file.read : replayable(file.bytes);
    const header: mediaProto.UploadHeader = { ...placement, stripMetadata };
    // The output is already paid for, so a call without a spool waits while media restarts.
    const put = (waitForReady: boolean) => (): Promise<mediaProto.IngestResponse | mediaProto.UploadResponse> =>
      "url" in file
        ? media.ingest({ ...placement, sourceUrl: file.url, sourceOrigin }, { ...callOptions, waitForReady })
        : media.upload(uploadParts(header, readBytes!()), { ...callOptions, waitForReady });
    const inTurn = (work: () => Promise<mediaProto.IngestResponse | mediaProto.UploadResponse>): Promise<MediaValue> =>
      storeInTurn(downloads, work, { userId: call.userId, signal, problem: notStored(call) });
    // Retries are safe, because one id stores one file. The provider's file is read again from the start.
    const shouldRetry = (error: unknown): boolean => isUnavailable(error) || ("read" in file && mayPass(error));
    const tryAgain = (pausesMs: readonly number[], waitForReady: boolean): Promise<MediaValue> =>
      inTurn(() => retry(put(waitForReady), { pausesMs, shouldRetry, ...(signal ? { signal } : {}) }));

    if (!spooling || !readBytes) return tryAgain([...FIRST_PAUSES_MS, ...LATER_PAUSES_MS], true);
    try {
      return await tryAgain(FIRST_PAUSES_MS, false);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    await spooling.noted();
    if (!(await spooling.spool.keep(header, readBytes()))) return tryAgain(LATER_PAUSES_MS, true);
    const store = async (): Promise<mediaProto.UploadResponse> =>
      (await spooling.spool.store(header.id)) ?? {
        object: (await media.getObjects({ ids: [header.id], ownerId: header.ownerId })).objects[0],
      };
    return storeSpooled(header.id, () => inTurn(store), spooling, signal);
  };

/**
 * Makes a stream readable several times, each time from the first byte. Bytes are kept after reading, so a reader that stops early doesn't
 * affect the next reader.
 */
export const replayable = (bytes: AsyncIterable<Uint8Array>): (() => AsyncIterable<Uint8Array>) => {
  const source = bytes[Symbol.asyncIterator]();
  const pieces: Promise<IteratorResult<Uint8Array>>[] = [];
  return async function* read() {
    for (let index = 0; ; index += 1) {
      const next = await (pieces[index] ??= source.next());
      if (next.done === true) return;
      yield next.value;
    }
  };
};
