import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isNotFound } from "@nodeloom/kernel";
import { uploadParts, type ClientOf } from "@nodeloom/platform";
import { media as proto } from "@nodeloom/proto";
import { BOUNDS } from "../bounds";
import { WorkFailure, type WorkFile } from "../children/protocol";

/** Transfers between media and disk. They are streamed, so that no file is completely in memory. */

export type Media = Pick<ClientOf<proto.MediaServiceServer>, "getObjects" | "readObject" | "upload">;

const MB = 1_024 * 1_024;

export interface FileRequest {
  port: string;
  key: string;
}

/** @throws WorkFailure if the file doesn't exist */
const readFile = async (
  media: Media,
  { port, key }: FileRequest,
  path: string,
  { signal, count }: { signal: AbortSignal; count: (bytes: number) => void },
): Promise<WorkFile> => {
  let contentType = "";
  const messages = media.readObject({ key }, { deadlineMs: BOUNDS.transferMs, signal, waitForReady: true });
  const chunks = async function* (): AsyncIterable<Uint8Array> {
    for await (const { part } of messages) {
      if (part?.$case === "header") {
        count(part.value.bytes);
        ({ contentType } = part.value);
      } else if (part?.$case === "chunk") yield part.value;
    }
  };
  try {
    await pipeline(chunks(), createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) throw new WorkFailure("input", `${port}: the file is not there any more`);
    throw error;
  }
  signal.throwIfAborted();
  return { port, path, contentType };
};

/** Downloads the files of an operation. @throws WorkFailure if a file is missing or if the files together are too large */
export const readFiles = async (
  media: Media,
  wantedFiles: readonly FileRequest[],
  folder: string,
  signal: AbortSignal,
): Promise<WorkFile[]> => {
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    if (bytes > BOUNDS.inputBytes)
      throw new WorkFailure("bounds", `its files are larger than the ${BOUNDS.inputBytes / MB} MB that an operation may take`);
  };
  const files: WorkFile[] = [];
  for (const [index, one] of wantedFiles.entries()) files.push(await readFile(media, one, join(folder, `in-${index}`), { signal, count }));
  return files;
};

/** Stores a result under a deterministic id, so that a retry finds the existing result. */
export const storeFile = async (
  media: Media,
  { path, ...header }: Pick<proto.UploadHeader, "id" | "ownerId" | "accept" | "making" | "held"> & { path: string },
  signal: AbortSignal,
): Promise<proto.StoredObject> => {
  const { object } = await media.upload(uploadParts(proto.UploadHeader.fromPartial(header), createReadStream(path)), {
    deadlineMs: BOUNDS.transferMs,
    signal,
    waitForReady: true,
  });
  if (!object) throw new WorkFailure("fault", "the result could not be stored");
  return object;
};
