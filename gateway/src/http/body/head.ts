import { LIMITS } from "@nodeloom/kernel";
import type { Request } from "express";
import { payloadTooLarge, unsupportedMediaType } from "../errors";
import { isStreamed, type Body } from "./kinds";

/** Checks of a body by its headers, before the caller is known. */

const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)$/;
const UTF8 = /^utf-?8$/i;

export const hasBody = (request: Request): boolean =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;

interface TakesBody {
  auth: string;
  body?: Body | undefined;
}

/** Maximum bytes of the file in a streamed body. */
const fileLimit = (body: Body | undefined): number => body?.bytes ?? LIMITS.mediaBytes;

/** Maximum bytes of a route's body. A form can have more, for the parts around its file. */
export const bodyLimit = ({ auth, body }: TakesBody): number => {
  if (isStreamed(body)) return fileLimit(body) + LIMITS.formBytes;
  if (body?.bytes !== undefined) return body.bytes;
  return auth === "none" ? LIMITS.openBodyBytes : LIMITS.jsonBodyBytes;
};

export const valueLimit = ({ values = LIMITS.jsonValues }: Partial<Body>): number => values;

const checkContentType = (header: string | undefined): void => {
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim());
  if (!JSON_TYPE.test(type.toLowerCase()))
    throw unsupportedMediaType("the body must be JSON, with the header content-type: application/json");
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter))?.slice("charset=".length);
  if (charset !== undefined && !UTF8.test(charset.replaceAll('"', ""))) throw unsupportedMediaType("the body must be UTF-8");
};

/** Checks a body by its headers. @throws UNSUPPORTED_MEDIA_TYPE (encoded, or not JSON), PAYLOAD_TOO_LARGE (by the declared size) */
export const checkHead = (route: TakesBody, request: Request): void => {
  if (!hasBody(request)) return;
  if (request.headers["content-encoding"] !== undefined) {
    throw unsupportedMediaType("the body must be sent uncompressed, without the header content-encoding");
  }
  if (!route.body) return;
  if (Number(request.headers["content-length"] ?? 0) > bodyLimit(route)) {
    throw payloadTooLarge(isStreamed(route.body) ? fileLimit(route.body) : bodyLimit(route));
  }
  if (route.body.kind === "json") checkContentType(request.headers["content-type"]);
};
