import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { access, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EgressError, type EgressClient } from "@nodeloom/platform";
import { Router, type RequestHandler } from "express";
import { z } from "zod";
import { notFound, parseBody, ProviderError } from "./provider-error";
import { checkImage } from "./render/masked";
import { baseUrlOf } from "./requests";

/** Files in requests are fetched, as a provider on the internet would do, or uploaded to the sandbox's storage first. */

const MAX_FILE_BYTES = 100 * 1024 * 1024;
const KEPT_MS = 24 * 3_600_000;
/** Number of uploads between two cleanups. */
const LOOK_EVERY = 100;
const READ_MS = 20_000;
const REDIRECTS = 3;
const DATA_URL = /^data:/i;
const BASE64_HEAD = /^data:[^,]*;base64,/i;
const NO_BASE64 = /[^A-Za-z0-9+/_-]/;

/** True for base64 data URLs. Each pattern runs in linear time, because files can have many millions of characters. */
const isInBase64 = (url: string): boolean => {
  const data = BASE64_HEAD.test(url) ? url.slice(url.indexOf(",") + 1).replace(/={1,2}$/, "") : "";
  return data !== "" && !NO_BASE64.test(data);
};
const UPLOADED = /^\/uploads\/([0-9a-f-]{36})$/;

const initiateSchema = z.strictObject({ content_type: z.string().min(1), file_name: z.string().min(1) });
const unreadable = (problem: string): ProviderError =>
  new ProviderError(422, "input_unreadable", `the file could not be read: ${problem}`, "image");

type Keep = (chunk: Buffer) => void;

interface Input {
  image?: unknown;
  mask?: unknown;
}
interface Body extends Input {
  kind?: unknown;
  model?: unknown;
  version?: unknown;
  input?: Input | null;
  messages?: unknown;
}

/** The files that a result is drawn from: a masked image with its mask, and the picture of a 3D model. */
const drawnFrom = ({ image, mask }: Input, isModel3d: boolean): ("image" | "mask")[] => {
  if (typeof image !== "string") return [];
  if (typeof mask === "string") return ["image", "mask"];
  return isModel3d ? ["image"] : [];
};

const isModel3d = ({ kind, model, version }: Body): boolean => kind === "3d" || [model, version].includes("sandbox-3d");

/** Files that a request of any dialect names, without those that a result is drawn from. */
const filesOf = (body: Body): string[] => {
  const { image, mask, input, messages } = body;
  const parts = (Array.isArray(messages) ? (messages as ({ content?: unknown } | null)[]) : []).flatMap((message) =>
    Array.isArray(message?.content) ? (message.content as unknown[]) : [],
  );
  const pictures = parts.map((part) => (part as { image_url?: { url?: unknown } } | null)?.image_url?.url);
  const single = [{ image, mask }, input ?? {}]
    .filter((one) => drawnFrom(one, isModel3d(body)).length === 0)
    .flatMap((one) => [one.image, one.mask]);
  return [...single, ...pictures].filter((one) => typeof one === "string");
};

async function* bounded(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_FILE_BYTES) throw new ProviderError(413, "too_large", "the file is too large");
    yield chunk;
  }
  if (bytes === 0) throw new ProviderError(400, "invalid_request", "the file is empty");
}

const createUploads = (folder: string) => {
  mkdirSync(folder, { recursive: true });
  let untilLook = 0;
  const removeOld = async (): Promise<void> => {
    if (untilLook-- > 0) return;
    untilLook = LOOK_EVERY;
    const oldest = Date.now() - KEPT_MS;
    for (const name of await readdir(folder)) {
      const stats = await stat(join(folder, name)).catch(() => undefined);
      if (stats && stats.mtimeMs < oldest) await rm(join(folder, name), { force: true });
    }
  };
  return {
    keep: async (id: string, body: AsyncIterable<Buffer>): Promise<void> => {
      await removeOld();
      const part = join(folder, `${id}.part`);
      try {
        await pipeline(bounded(body), createWriteStream(part));
        await rename(part, join(folder, id));
      } finally {
        await rm(part, { force: true });
      }
    },
    read: (id: string): Promise<Buffer> => readFile(join(folder, id)),
    has: (id: string): Promise<boolean> =>
      access(join(folder, id)).then(
        () => true,
        () => false,
      ),
  };
};

/**
 * A storage API compatible with fal's, and a check of the files in every request.
 * @param egress without it, URLs aren't fetched
 */
export const inputFiles = (dataDirectory: string, egress: EgressClient | undefined) => {
  const keptUploads = createUploads(join(dataDirectory, "uploads"));

  const fetched = async (url: string, keep?: Keep): Promise<void> => {
    if (!egress && keep) throw unreadable("addresses aren't fetched here");
    if (!egress) return;
    try {
      const { status, body } = await egress.stream({ url, timeoutMs: READ_MS, maxBytes: MAX_FILE_BYTES, maxRedirects: REDIRECTS });
      let bytes = 0;
      for await (const chunk of body) {
        bytes += chunk.length;
        keep?.(chunk);
      }
      if (status !== 200) throw unreadable(`its address answers ${status}`);
      if (bytes === 0) throw unreadable("it is empty");
    } catch (error) {
      throw error instanceof EgressError ? unreadable(error.message) : error;
    }
  };

  /** Reads a file. @param keep receives its bytes; without it, the file is only checked */
  const read = async (reference: string, origin: string, keep?: Keep): Promise<void> => {
    if (DATA_URL.test(reference)) {
      if (!isInBase64(reference)) throw unreadable("its data is not in base64");
      return keep?.(Buffer.from(reference.slice(reference.indexOf(",") + 1), "base64"));
    }
    const url = URL.canParse(reference) ? new URL(reference) : undefined;
    const id = url?.origin === origin ? UPLOADED.exec(url.pathname)?.[1] : undefined;
    if (id === undefined) return fetched(reference, keep);
    if (!(await keptUploads.has(id))) throw unreadable("there is no such upload");
    keep?.(await keptUploads.read(id));
  };

  /** Keeps the pictures of a request until its result is drawn from them, and names them by their addresses here. */
  const keepPictures = async (input: Input, names: readonly ("image" | "mask")[], origin: string): Promise<void> => {
    for (const name of names) {
      const chunks: Buffer[] = [];
      await read(String(input[name]), origin, (chunk) => chunks.push(chunk));
      const bytes = Buffer.concat(chunks);
      await checkImage(bytes).catch((error: unknown) => {
        throw unreadable(error instanceof Error ? error.message : "it isn't an image");
      });
      const id = randomUUID();
      await keptUploads.keep(id, Readable.from([bytes]));
      input[name] = `${origin}/uploads/${id}`;
    }
  };

  const storage = Router();
  storage.post("/storage/upload/initiate", (request, response) => {
    parseBody(initiateSchema, request.body);
    const url = `${baseUrlOf(request)}/uploads/${randomUUID()}`;
    response.json({ upload_url: url, file_url: url });
  });
  const uploads = Router();
  uploads.put("/uploads/:id", async (request, response) => {
    const id = UPLOADED.exec(request.path)?.[1];
    if (id === undefined) throw notFound("upload");
    await keptUploads.keep(id, request);
    response.status(200).end();
  });
  const check: RequestHandler = async (request, _response, next) => {
    const body = (request.body ?? {}) as Body;
    await Promise.all(filesOf(body).map((reference) => read(reference, baseUrlOf(request))));
    for (const input of [body, body.input ?? {}]) await keepPictures(input, drawnFrom(input, isModel3d(body)), baseUrlOf(request));
    next();
  };
  return { storage, uploads, check, readKept: keptUploads.read };
};
