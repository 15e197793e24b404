import { LIMITS } from "@nodeloom/kernel";
import type { Request } from "express";
import { payloadTooLarge, unsupportedMediaType } from "../errors";
import type { Route } from "../../edge/route";

/** Checks of a body by the request's headers, made before the caller is known. */

const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)$/;
const UTF8 = /^utf-?8$/i;

/** Whether the headers announce a body. */
export const hasBody = (request: Request): boolean =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;

/** Bytes that a route's body may have; for a form, its file and some for the parts around it. */
export const bodyLimit = (route: Pick<Route, "auth" | "binaryBody" | "signedBody">): number => {
  if (route.signedBody) return route.signedBody.bytes;
  if (route.binaryBody) return LIMITS.mediaBytes + LIMITS.formBytes;
  return route.auth === "none" ? LIMITS.openBodyBytes : LIMITS.jsonBodyBytes;
};

/** Values that a JSON body may have. A workflow may have as many as a GET of it can answer with. */
export const valueLimit = (route: Pick<Route, "wholeWorkflow" | "bodyValues">): number =>
  (route.bodyValues ?? LIMITS.jsonValues) + (route.wholeWorkflow ? LIMITS.workflowMemberValues : 0);

const checkContentType = (header: string | undefined): void => {
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim());
  if (!JSON_TYPE.test(type.toLowerCase()))
    throw unsupportedMediaType("the body must be JSON, with the header content-type: application/json");
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter))?.slice("charset=".length);
  if (charset !== undefined && !UTF8.test(charset.replaceAll('"', ""))) throw unsupportedMediaType("the body must be UTF-8");
};

/**
 * Refuses a body by its headers.
 * @throws UNSUPPORTED_MEDIA_TYPE (encoded, or no JSON), PAYLOAD_TOO_LARGE (by the declared size)
 */
export const checkHead = (route: Route, request: Request): void => {
  if (!hasBody(request)) return;
  if (request.headers["content-encoding"] !== undefined) {
    throw unsupportedMediaType("the body must be sent as it is, without the header content-encoding");
  }
  if (!route.body && !route.binaryBody && !route.signedBody) return;
  if (Number(request.headers["content-length"] ?? 0) > bodyLimit(route)) {
    throw payloadTooLarge(route.binaryBody ? LIMITS.mediaBytes : bodyLimit(route));
  }
  if (route.body) checkContentType(request.headers["content-type"]);
};
