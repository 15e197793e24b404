import { isUnavailable, type MediaValue } from "@nodeloom/kernel";
import { retry, uploadParts, type Slots } from "@nodeloom/platform";
import type { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import type { CatalogModel } from "../plan/model-catalog";
import type { ModelCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { notStored, placementOf, storeInTurn } from "./call";
import { mayPass, type ProviderFile } from "@nodeloom/providers";
import { replayable } from "./replayable";

/** Stores what a model made, again where media was away. */

/** Pauses before a file is stored again. */
const STORE_PAUSES_MS = [200, 500, 1_000, 2_000, 5_000, 5_000, 10_000, 10_000];

/** Puts a file that a provider made into our storage. */
export const createStoreMade =
  (media: Pick<Media, "ingest" | "upload">, downloads: Slots) =>
  async (call: ModelCall, model: CatalogModel, file: ProviderFile, index: number, signal?: AbortSignal): Promise<MediaValue> => {
    const { sourceOrigin, ...placement } = placementOf(call, model, index);
    // What is paid for is worth waiting for a media service that is starting again.
    const callOptions = { deadlineMs: TIMING.direct, waitForReady: true, ...(signal ? { signal } : {}) };
    const stripMetadata = "read" in file ? file.stripMetadata : undefined;
    const read = "url" in file ? undefined : "read" in file ? file.read : replayable(file.bytes);
    const put = (): Promise<mediaProto.IngestResponse | mediaProto.UploadResponse> =>
      "url" in file
        ? media.ingest({ ...placement, sourceUrl: file.url, sourceOrigin }, callOptions)
        : media.upload(uploadParts({ ...placement, stripMetadata }, read!()), callOptions);
    // A media service that went away comes back: the same id makes the same file. What is read from the provider is read anew.
    const shouldRetry = (error: unknown): boolean => isUnavailable(error) || ("read" in file && mayPass(error));
    const putAgain = () => retry(put, { pausesMs: STORE_PAUSES_MS, shouldRetry, ...(signal ? { signal } : {}) });
    return storeInTurn(downloads, putAgain, { userId: call.userId, signal, problem: notStored(call) });
  };
