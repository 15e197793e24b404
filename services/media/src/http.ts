import { pipeline } from "node:stream/promises";
import type { Logger } from "@nodeloom/platform";
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from "express";
import type { BlobStore, ByteRange } from "./blobs/blobs";
import { DomainError, unavailable } from "@nodeloom/kernel";
import type { MediaObject, Thumbnail } from "./store/media-object";
import { readRange } from "./range";
import { isDownload, servedType } from "./sniff";
import type { ObjectStore } from "./store/object-store";
import { PUBLIC_MS, type UrlAccess, type Urls } from "./urls/urls";
import type { Thumbnails } from "./thumbnails/thumbnails";
import { WIDTHS, widthOf } from "./store/widths";

const OK = 200;
const PARTIAL = 206;
const NOT_MODIFIED = 304;
const BAD_REQUEST = 400;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const METHOD_NOT_ALLOWED = 405;
const UNSUPPORTED = 415;
const UNSATISFIABLE = 416;
const UNAVAILABLE = 503;
const RETRY_AFTER_SECONDS = 1;

export interface MediaHttp {
  store: ObjectStore;
  blobs: BlobStore;
  thumbnails: Thumbnails;
  urls: Pick<Urls, "opens">;
  logger: Logger;
}

type ServedFile = MediaObject | Thumbnail;

const etagOf = (object: ServedFile): string => `"${object.sha256}"`;

const YEAR_SECONDS = 31_536_000;
const SECOND_MS = 1_000;

/** The bytes never change, but access to them can. Caches therefore keep them only as long as the URL is valid. */
const cacheControl = (opened: UrlAccess | undefined): string => {
  switch (opened?.as) {
    case "always":
      return `public, max-age=${YEAR_SECONDS}, immutable`;
    case "public":
      return `public, max-age=${PUBLIC_MS / SECOND_MS}`;
    case "signed":
      return `private, max-age=${Math.floor(opened.forMs / SECOND_MS)}, immutable`;
    default:
      return "no-store";
  }
};

const setHeaders = (response: Response, object: ServedFile, opened: UrlAccess | undefined): void => {
  response.set({
    ETag: etagOf(object),
    "Content-Type": servedType(object.contentType),
    "Content-Disposition": isDownload(object.contentType) ? "attachment" : "inline",
    "Cache-Control": cacheControl(opened),
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });
};

/** True if `If-None-Match` matches. Express's own check honors `no-cache`, which is unnecessary because bytes never change. */
const hasCurrent = (request: Request, object: ServedFile): boolean =>
  (request.get("if-none-match") ?? "").split(",").some((tag) => ["*", etagOf(object)].includes(tag.trim().replace(/^W\//, "")));

/** Returns the requested range, `unsatisfiable`, or undefined for the whole file. */
const wantedRange = (request: Request, object: ServedFile): ByteRange | "unsatisfiable" | undefined => {
  const condition = request.get("if-range");
  if (request.method !== "GET" || (condition !== undefined && condition !== etagOf(object))) return undefined;
  return readRange(request.get("range") ?? "", object.bytes);
};

/** An error in the form that every route has. `doc` is a path of the gateway, which serves these files. */
const errorBody = (code: string, error: string): object => ({ error, code, doc: `/docs/reference/errors/${code}` });

const notFound = (response: Response): void => {
  response.status(NOT_FOUND).set("Cache-Control", "no-store").json(errorBody("NOT_FOUND", "media not found"));
};

const unsatisfiable = (response: Response, object: ServedFile): void => {
  for (const name of ["ETag", "Content-Type"]) response.removeHeader(name);
  response
    .status(UNSATISFIABLE)
    .set({ "Content-Range": `bytes */${object.bytes}`, "Cache-Control": "no-store", "Content-Disposition": "inline" })
    .json(errorBody("INVALID_REQUEST", "the range is outside the file"));
};

const sendRefusal = (response: Response, status: number, code: string, error: string): void => {
  response.status(status).set({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" }).json(errorBody(code, error));
};

/** Returns the object, or its thumbnail if the request has `w`. Undefined if the request was already rejected. */
const requestedFile = async (
  { thumbnails }: MediaHttp,
  request: Request,
  response: Response,
  object: MediaObject,
): Promise<ServedFile | undefined> => {
  const { w } = request.query;
  if (w === undefined) return object;
  const width = typeof w === "string" ? widthOf(w) : undefined;
  if (width === undefined) {
    sendRefusal(response, BAD_REQUEST, "INVALID_REQUEST", `w: must be a width in pixels, from 1 to ${WIDTHS.at(-1)}`);
    return undefined;
  }
  try {
    return await thumbnails.get(object, width);
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== "UNSUPPORTED_MEDIA_TYPE") throw error;
    sendRefusal(response, UNSUPPORTED, error.reason, error.message);
    return undefined;
  }
};

/** Held files can only be read through URLs with `look`. */
const heldOne = ({ store }: MediaHttp, { params, query }: Request<{ key: string }>): Promise<MediaObject | undefined> =>
  typeof query.look === "string" ? store.heldByKey(params.key, query.look) : Promise.resolve(undefined);

const signatureOf = ({ query }: Request): { expires: string; signature: string } | undefined =>
  typeof query.e === "string" && typeof query.s === "string" ? { expires: query.e, signature: query.s } : undefined;

const expired = (response: Response): void => {
  const fix = "Read the run or the file again, or ask GET /api/media/<id> for a new address";
  sendRefusal(response, FORBIDDEN, "MEDIA_URL_EXPIRED", `the address has expired, was changed, or has no signature. ${fix}`);
};

const send = async (deps: MediaHttp, request: Request<{ key: string }>, response: Response): Promise<void> => {
  const { store, blobs } = deps;
  const shownObject = await store.byKey(request.params.key);
  const mediaObject = shownObject ?? (await heldOne(deps, request));
  if (!mediaObject) return notFound(response);
  const opened = shownObject && (await deps.urls.opens(shownObject, signatureOf(request)));
  if (opened?.as === "refused") return expired(response);
  const object = shownObject ? await requestedFile(deps, request, response, mediaObject) : mediaObject;
  if (!object) return;
  setHeaders(response, object, opened);
  if (hasCurrent(request, object)) return void response.status(NOT_MODIFIED).end();
  const range = wantedRange(request, object);
  if (range === "unsatisfiable") return unsatisfiable(response, object);
  const { start, end } = range ?? { start: 0, end: object.bytes - 1 };
  response.status(range ? PARTIAL : OK).set("Content-Length", String(end - start + 1));
  if (range) response.set("Content-Range", `bytes ${start}-${end}/${object.bytes}`);
  if (request.method === "HEAD") return void response.end();
  const bytes = await blobs.read(object.blob, range);
  if (!bytes) throw new Error(`the bytes of ${mediaObject.id} are missing`);
  await pipeline(bytes, response);
};

const failed =
  (logger: Logger): ErrorRequestHandler =>
  (error: NodeJS.ErrnoException & { status?: number }, _request, response: Response, next) => {
    // The client disconnected.
    if (error.code === "ERR_STREAM_PREMATURE_CLOSE") return;
    // Express throws this error for a path that can't be decoded.
    if (error.status === BAD_REQUEST) return notFound(response);
    const isUnavailable = error instanceof DomainError && error.kind === "unavailable";
    logger[isUnavailable ? "warn" : "error"]({ err: error }, "media could not be served");
    if (response.headersSent) return next(error);
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    const { message, metadata } = isUnavailable ? error : unavailable("media storage is not available", RETRY_AFTER_SECONDS);
    const { retryAfter = RETRY_AFTER_SECONDS } = metadata;
    response
      .status(UNAVAILABLE)
      .set({ "Retry-After": String(retryAfter), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" })
      .json({ ...errorBody("SERVICE_UNAVAILABLE", message), retryAfter });
  };

/** The HTTP server. It serves stored objects by their public keys, and health probes. */
export const mediaHttp = (deps: MediaHttp): Express => {
  const app = express().disable("x-powered-by").disable("etag").set("query parser", "simple");
  app.get("/healthz", (_request, response) => void response.json({ status: "ok" }));
  app.get("/readyz", async (_request, response) => {
    await Promise.all([deps.store.check(), deps.blobs.check()]);
    response.json({ status: "ok" });
  });
  // Some clients append `?w=` to a URL even if it already has a query.
  app.use((request, _response, next) => {
    const [path = "", ...queries] = request.url.split("?");
    if (queries.length > 1) request.url = `${path}?${queries.join("&")}`;
    next();
  });
  app.get("/media/:key", (request, response) => send(deps, request, response));
  app.all("/media/:key", (_request, response) => {
    response.status(METHOD_NOT_ALLOWED).set("Allow", "GET, HEAD").json(errorBody("METHOD_NOT_ALLOWED", "method not allowed"));
  });
  app.use((_request, response) => notFound(response));
  app.use(failed(deps.logger));
  return app;
};
