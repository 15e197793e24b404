import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import type { RenderedReply } from "./idempotency";

const OK = 200;
const NOT_MODIFIED = 304;

/** Entity tag of a body. Weak, because the same value can be written differently. */
const bodyTag = (text: string): string => `W/"${createHash("sha1").update(text).digest("base64url")}"`;

const HOUR_MS = 3_600_000;

/** Adds the current hour to a reply's entity tag, so that the tag expires. Revisions can still be read from it. */
export const hourlyTag = (tag: string, nowMs = Date.now()): string => tag.replace(/"$/, `-h${Math.floor(nowMs / HOUR_MS)}"`);

/** Adds an ETag to successful reads without one, and answers 304 if it matches If-None-Match. */
export const revalidate = (request: Request, response: Response, reply: RenderedReply): RenderedReply => {
  if (reply.status !== OK || reply.text === "" || response.headersSent) return reply;
  const headers: RenderedReply["headers"] = { ...reply.headers, ETag: reply.headers.ETag ?? bodyTag(reply.text) };
  response.setHeader("ETag", headers.ETag!);
  // Express compares the response's ETag with the headers of GET and HEAD.
  if (!request.fresh) return { ...reply, headers };
  const { "Content-Type": _, ...headersLeft } = headers;
  return { status: NOT_MODIFIED, headers: headersLeft, text: "" };
};
