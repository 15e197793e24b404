import { DomainError, fileOf, isMediaId, member, type MediaValue } from "@nodeloom/kernel";
import { NoSlot, type Slots } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import type { FileToKeep } from "../run/calls";
import { TIMING } from "../run/timing";
import { files } from "../plan/files";
import { mediaId, storeInTurn } from "./call";
import { final } from "./failures";

/** Files of a result, given as ids, addresses or data URLs, put into our storage. */

const HTTP_URL = /^https?:/i;
const DATA_URL = /^data:/i;
const SHOWN_CHARS = 60;

/** A reference as a message shows it: without data. */
const shown = (reference: string): string => {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(reference)?.[0];
  if (scheme !== undefined && !HTTP_URL.test(reference)) return `a ${scheme} address`;
  return JSON.stringify(reference.length > SHOWN_CHARS ? `${reference.slice(0, SHOWN_CHARS)}…` : reference);
};

const notAFile = ({ port, family, reference }: FileToKeep): DomainError =>
  final("EXECUTION_FAILED", `${port}: ${shown(reference)} is not ${fileOf(family)}: an http(s) address or a media id`);

/** What a failed fetch becomes. Services of ours that are away come back. */
const asFailure = (error: unknown, { port }: FileToKeep): unknown =>
  error instanceof NoSlot ||
  (error instanceof DomainError && (error.kind === "failed" || error.kind === "invalid" || error.kind === "conflict"))
    ? final("EXECUTION_FAILED", `${port}: ${error.message}`)
    : error;

export type KeepFile = ReturnType<typeof createKeepFile>;

/**
 * Puts one file of a result into our storage: a file of the user's by its id, whatever an http(s) address leads to, and a
 * data URL where the caller or the graph said it.
 */
export const createKeepFile = (media: Pick<Media, "ingest" | "getObjects">, downloads: Slots) => {
  const byId = async (call: FileToKeep): Promise<MediaValue> => {
    const [found] = (await files(media, [call.reference], call.userId)).values();
    const file = found ?? (member(call.authorFiles ?? {}, call.reference) as MediaValue | undefined);
    if (!file) throw final("EXECUTION_FAILED", `${call.port}: there is no media file ${call.reference} of yours`);
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
