import { DomainError, fileOf, isMediaId, isUnavailable, type MediaValue, member } from "@nodeloom/kernel";
import { NoSlot, retry, type Slots, uploadParts } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import { mayPass, type ProviderFile } from "@nodeloom/providers";
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
const shown = (reference: string): string => {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(reference)?.[0];
  if (scheme !== undefined && !HTTP_URL.test(reference)) return `a ${scheme} address`;
  return JSON.stringify(reference.length > SHOWN_CHARS ? `${reference.slice(0, SHOWN_CHARS)}…` : reference);
};

const notAFile = ({ port, family, reference }: FileToKeep): DomainError =>
  inputFailed(`${port}: ${shown(reference)} is not ${fileOf(family)}: an http(s) address or a media id`);

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
    const [found] = (await files(media, [call.reference], call.userId)).values();
    const file = found ?? (member(call.authorFiles ?? {}, call.reference) as MediaValue | undefined);
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

const STORE_PAUSES_MS = [200, 500, 1_000, 2_000, 5_000, 5_000, 10_000, 10_000];

export const createStoreMade =
  (media: Pick<Media, "ingest" | "upload">, downloads: Slots) =>
  async (call: ModelCall, model: CatalogModel, file: ProviderFile, index: number, signal?: AbortSignal): Promise<MediaValue> => {
    const { sourceOrigin, ...placement } = placementOf(call, model, index);
    // The output is already paid for, so the call waits while media restarts.
    const callOptions = { deadlineMs: TIMING.direct, waitForReady: true, ...(signal ? { signal } : {}) };
    const stripMetadata = "read" in file ? file.stripMetadata : undefined;
    const read = "url" in file ? undefined : "read" in file ? file.read : replayable(file.bytes);
    const put = (): Promise<mediaProto.IngestResponse | mediaProto.UploadResponse> =>
      "url" in file
        ? media.ingest({ ...placement, sourceUrl: file.url, sourceOrigin }, callOptions)
        : media.upload(uploadParts({ ...placement, stripMetadata }, read!()), callOptions);
    // Retries are safe, because one id stores one file. The provider's file is read again from the start.
    const shouldRetry = (error: unknown): boolean => isUnavailable(error) || ("read" in file && mayPass(error));
    const putAgain = () => retry(put, { pausesMs: STORE_PAUSES_MS, shouldRetry, ...(signal ? { signal } : {}) });
    return storeInTurn(downloads, putAgain, { userId: call.userId, signal, problem: notStored(call) });
  };

/**
 * Makes a stream readable several times, each time from the first byte. Bytes are kept after reading, so a reader that stops early doesn't
 * affect the next reader.
 */
export const replayable = (bytes: AsyncIterable<Uint8Array>): (() => AsyncIterable<Uint8Array>) => {
  const source = bytes[Symbol.asyncIterator]();
  const kept: Promise<IteratorResult<Uint8Array>>[] = [];
  return async function* read() {
    for (let index = 0; ; index += 1) {
      const next = await (kept[index] ??= source.next());
      if (next.done === true) return;
      yield next.value;
    }
  };
};
