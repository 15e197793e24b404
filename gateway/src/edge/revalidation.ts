import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import type { RenderedReply } from "./idempotency";

const OK = 200;
const NOT_MODIFIED = 304;

/** An entity tag of a body. Weak: the same value may be written in another way. */
const bodyTag = (text: string): string => `W/"${createHash("sha1").update(text).digest("base64url")}"`;

/** Gives a successful read an ETag unless it has one, and answers 304 where the client's If-None-Match says that it has this already. */
export const revalidate = (request: Request, response: Response, reply: RenderedReply): RenderedReply => {
  if (reply.status !== OK || reply.text === "" || response.headersSent) return reply;
  const headers: RenderedReply["headers"] = { ...reply.headers, ETag: reply.headers.ETag ?? bodyTag(reply.text) };
  response.setHeader("ETag", headers.ETag!);
  // Express compares the response's ETag with what a GET or HEAD asks for.
  if (!request.fresh) return { ...reply, headers };
  const { "Content-Type": _, ...kept } = headers;
  return { status: NOT_MODIFIED, headers: kept, text: "" };
};
