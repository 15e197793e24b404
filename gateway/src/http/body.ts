import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { raw as rawBody, type Request, type RequestHandler, type Response } from "express";
import { payloadTooLarge, unsupportedMediaType } from "./errors";
import { topLevelMembers } from "./json";

/** A JSON body: its parsed value for checking, its text for passing on without loss. */
export interface JsonBody {
  /** Empty when the request has no body. */
  text: string;
  value: unknown;
}

const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)$/;
const UTF8 = /^utf-?8$/i;

const read: RequestHandler = rawBody({ type: () => true, limit: LIMITS.jsonBodyBytes });
const decoder = new TextDecoder("utf-8", { fatal: true });

const hasBody = (request: Request): boolean =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;

const checkContentType = (header: string | undefined): void => {
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim());
  if (!JSON_TYPE.test(type.toLowerCase()))
    throw unsupportedMediaType("the body must be JSON, with the header content-type: application/json");
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter))?.slice("charset=".length);
  if (charset !== undefined && !UTF8.test(charset.replaceAll('"', ""))) throw unsupportedMediaType("the body must be UTF-8");
};

const translate = (error: unknown, request: Request): unknown => {
  const { type, status } = error as { type?: string; status?: number };
  if (type === "entity.too.large") {
    // What is still being sent is read and dropped, so that the client gets to see the answer.
    request.resume();
    return payloadTooLarge(LIMITS.jsonBodyBytes);
  }
  if (type === "encoding.unsupported") return unsupportedMediaType("the body's content encoding is not supported");
  if (status !== undefined && status < 500) return invalidRequest([{ path: "", message: "the body could not be read" }]);
  return error;
};

const readBytes = (request: Request, response: Response): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    read(request, response, (error?: unknown) => {
      if (error) reject(translate(error, request) as Error);
      else resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    });
  });

/**
 * Reads a JSON body.
 * @throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or INVALID_REQUEST for what is no JSON.
 */
export const readJsonBody = async (request: Request, response: Response): Promise<JsonBody> => {
  if (!hasBody(request)) return { text: "", value: undefined };
  checkContentType(request.headers["content-type"]);
  const bytes = await readBytes(request, response);
  if (bytes.length === 0) return { text: "", value: undefined };
  try {
    const text = decoder.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw invalidRequest([{ path: "", message: "the body is not valid JSON" }]);
  }
};

/** The body's top-level members as they were written; empty unless it is an object. */
export const bodyMembers = ({ text, value }: JsonBody): ReadonlyMap<string, string> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? topLevelMembers(text) : new Map();
