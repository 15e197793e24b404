import { invalidRequest } from "@nodeloom/kernel";
import { members } from "@nodeloom/kernel/json-text";
import type { Request, Response } from "express";
import { payloadTooLarge, requestTimeout } from "../errors";
import type { BodyShare } from "./body-budget";
import { hasBody } from "./head";
import { jsonFaultPlace } from "./json-fault";
import { checkJsonBounds } from "./json-bounds";

/** A JSON body: the parsed value for checks, the text for lossless forwarding. */
export interface JsonBody {
  text: string;
  value: unknown;
}

export const NO_BODY: JsonBody = { text: "", value: undefined };

export interface BodyOptions {
  limitBytes: number;
  maxValues: number;
  /** Deadline for the last byte, in milliseconds since the epoch. */
  deadlineAtMs: number;
  share: BodyShare;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Sends `100 Continue` to a client that waits for it (`Expect: 100-continue`). */
export const askForBody = (request: Request, response: Response): void => {
  if (request.headers.expect !== undefined) response.writeContinue();
};

/** Reads a body within its size, time and memory share. */
const readBytes = (request: Request, { limitBytes, deadlineAtMs, share }: BodyOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onCutOff).off("close", onCutOff);
      request.pause();
      act();
    };
    const refuse = (error: unknown): void => settle(() => reject(error as Error));
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) return refuse(payloadTooLarge(limitBytes));
      try {
        share.add(chunk.length);
      } catch (error) {
        return refuse(error);
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, bytes)));
    const onCutOff = (): void => refuse(invalidRequest([{ path: "", message: "the body ended early" }]));
    const timer = setTimeout(() => refuse(requestTimeout()), Math.max(0, deadlineAtMs - Date.now()));
    request.on("data", onData).on("end", onEnd).on("error", onCutOff).on("close", onCutOff);
  });

/** Reads a body unchanged. @throws PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, CONCURRENCY_LIMIT_EXCEEDED */
export const readRawBody = async (request: Request, response: Response, options: BodyOptions): Promise<Buffer> => {
  askForBody(request, response);
  try {
    return hasBody(request) ? await readBytes(request, options) : Buffer.alloc(0);
  } finally {
    options.share.end();
  }
};

/**
 * Reads a JSON body whose headers were checked.
 * @throws PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, CONCURRENCY_LIMIT_EXCEEDED, or INVALID_REQUEST for malformed JSON, or too many levels or values
 */
export const readJsonBody = async (request: Request, response: Response, options: BodyOptions): Promise<JsonBody> => {
  if (!hasBody(request)) return NO_BODY;
  askForBody(request, response);
  try {
    const bytes = await readBytes(request, options);
    if (bytes.length === 0) return NO_BODY;
    checkJsonBounds(bytes, options.maxValues);
    return parse(bytes);
  } finally {
    options.share.end();
  }
};

const parse = (bytes: Buffer): JsonBody => {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalidRequest([{ path: "", message: "the body is not valid UTF-8" }]);
  }
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    throw invalidRequest([{ path: "", message: `the body is not valid JSON${jsonFaultPlace(text)}` }]);
  }
};

/** Top-level members of the body as they were written; empty unless it is an object. */
export const bodyMembers = ({ text, value }: JsonBody): ReadonlyMap<string, string> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? members(text) : new Map();
