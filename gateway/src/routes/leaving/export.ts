/** Archive of an account: created in the background, downloaded by its owner. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { whileConnected } from "../../http/event-stream";
import { EXPORT_READ_MS } from "../../http/limits";
import { STREAMED, type CallContext, type Reply } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";

export const ZIP = "application/zip";
const RETRY_AFTER_SECONDS = 3;

export const exportReady = z
  .object({
    status: z.literal("ready"),
    url: z
      .string()
      .meta({ description: "Address of the archive, for the same session", example: "http://127.0.0.1:8080/api/me/export/file" }),
    bytes: z.int(),
    isPartial: z.boolean().meta({ description: "True if the archive reached its size limit. Its README.txt lists the missing parts" }),
    createdAt: timestamp,
    expiresAt: timestamp.meta({ description: "The archive expires then. A later request creates a new one" }),
  })
  .meta({ id: "AccountExport" });
export const exportPending = z.object({ status: z.literal("processing") }).meta({ id: "PendingAccountExport" });

/** An archive is requested until it is complete, so that its requests of one day (UTC) share an audit row. */
export const today = (): string => new Date().toISOString().slice(0, "YYYY-MM-DD".length);

/** State of the archive; starts one if there is none. @param path download path */
export const exportReply = async ({ services, publicBaseUrl }: Gateway, userId: string, path: string): Promise<Reply> => {
  const { export: stored } = await services.accountExports.getAccountExport({ userId });
  if (!stored) return { status: 202, body: { status: "processing" }, headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } };
  const { bytes, isPartial, createdAt, expiresAt } = stored;
  const url = publicBaseUrl + path;
  return { status: 200, body: { status: "ready", url, bytes, isPartial, createdAt: iso(createdAt), expiresAt: iso(expiresAt) } };
};

type AnyContext = Pick<CallContext, "gateway" | "response">;

/** Sends the archive. If reading it fails, the connection is closed, so that no partial file looks complete. */
export const sendExport = async ({ gateway, response }: AnyContext, ownerId: string): Promise<typeof STREAMED> => {
  const { mediaExports } = gateway.services;
  const { export: stored } = await mediaExports.getExport({ ownerId });
  const signal = whileConnected(response, gateway.stopping);
  async function* bytes(): AsyncIterable<Uint8Array> {
    for await (const { chunk } of mediaExports.readExport({ ownerId }, { deadlineMs: EXPORT_READ_MS, signal })) yield chunk;
  }
  // Waits for the first bytes before sending headers, so that a missing archive is an error, not an empty file.
  const all = bytes()[Symbol.asyncIterator]();
  const first = await all.next();
  async function* rest(): AsyncIterable<Uint8Array> {
    for (let next = first; !next.done; next = await all.next()) yield next.value;
  }
  const day = (stored?.createdAt ?? new Date()).toISOString().slice(0, "YYYY-MM-DD".length);
  response.status(200).set({
    "Content-Type": ZIP,
    "Content-Disposition": `attachment; filename="nodeloom-account-${day}.zip"`,
    "Cache-Control": "no-store",
    ...(stored ? { "Content-Length": String(stored.bytes) } : {}),
  });
  await pipeline(Readable.from(rest()), response);
  return STREAMED;
};
