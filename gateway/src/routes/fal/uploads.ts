import { randomUUID } from "node:crypto";
import { DomainError, invalidInputs, LIMITS } from "@nodeloom/kernel";
import { z } from "zod";
import { ADMIN, requireApproved, toCallerUser, type Caller } from "../../auth/caller";
import type { UploadClaims, UploadUse } from "../../auth/upload-tokens";
import type { Gateway } from "../../edge/gateway";
import { defineRoute } from "../../edge/route";
import { fileBody, jsonBody } from "../../http/body/kinds";
import { notFound } from "../../http/errors";
import { FAL_PATH } from "../../http/fal-errors";
import { anyObject, type ParamsSpec } from "../../http/schemas";
import { storeUpload, uploadBytes, withSentFile } from "../media/uploads";

/**
 * Uploads of fal's libraries (`fal.storage`): a library asks for two addresses, sends the file to one without a key, and uses the other as
 * an input.
 */

/** Path that serves requests for fal's REST API. */
export const FAL_REST_PATH = `${FAL_PATH}rest/`;
const STORAGE = `${FAL_REST_PATH}storage/upload`;
const FILES = `${FAL_PATH}files`;
/** Uploads and reads per minute of an address. */
const FILES_PER_MINUTE = 600;
const MIB = 1024 * 1024;
/** Larger files are sent in parts by fal's library. */
const ONE_PART_BYTES = 90 * MIB;
const MAX_NAME_CHARS = 1_024;

const expired = (): DomainError =>
  new DomainError("forbidden", "MEDIA_URL_EXPIRED", "the address has expired or was changed: upload the file again");

const tooLarge = (): DomainError =>
  new DomainError(
    "invalid",
    "PAYLOAD_TOO_LARGE",
    "fal's library sends files of more than 90 MB in parts, which isn't supported: upload the file with POST /api/media, and give its address as input",
    {
      limit: ONE_PART_BYTES,
    },
  );

const claimsOf = ({ uploadTokens }: Gateway, use: UploadUse, token: string): UploadClaims => {
  const claims = uploadTokens.read(use, token);
  if (!claims) throw expired();
  return claims;
};

/** The account that asked for the address, as it is now. @throws MEDIA_URL_EXPIRED, ACCOUNT_NOT_APPROVED */
const accountOf = async ({ services }: Gateway, { ownerId }: UploadClaims): Promise<Pick<Caller, "user" | "isAdmin">> => {
  const { user } = await services.identity.getUser({ userId: ownerId });
  if (!user || user.suspended) throw expired();
  const account = toCallerUser(user);
  requireApproved({ user: account, person: account });
  return { user: account, isAdmin: user.role === ADMIN };
};

const text = z.string().max(MAX_NAME_CHARS).optional();
const description = z.looseObject({ content_type: text, file_name: text });
const addresses = z
  .object({
    upload_url: z.string().meta({ description: "Takes the bytes of the file, by `PUT` and without a key, within 15 minutes" }),
    file_url: z.string().meta({ description: "An input of a run. Opens the file for 24 hours" }),
  })
  .meta({ id: "FalUpload" });
const tokenParams: ParamsSpec<{ token: string }> = { schema: z.object({ token: z.string() }), invalid: expired };

const initiate = {
  tag: "fal",
  protocol: "fal",
  method: "POST",
  auth: "any",
  role: "editor",
  capability: "workflow:write",
  limit: "user",
  approval: true,
  query: z.looseObject({}),
  body: jsonBody(description.optional()),
  responses: { 200: addresses },
} as const;
const byAddress = {
  tag: "fal",
  protocol: "fal",
  auth: "none",
  role: "self",
  limit: { ip: FILES_PER_MINUTE },
  params: tokenParams,
} as const;

export const falUploadRoutes = [
  defineRoute({
    ...initiate,
    path: `${STORAGE}/initiate`,
    operationId: "falInitiateUpload",
    summary: "Get an address for an upload",
    description: "The type of the file is detected from its bytes; `content_type` and `file_name` are ignored.",
    example: { file_name: "boat.png", content_type: "image/png" },
    errors: ["ACCOUNT_NOT_APPROVED"],
    handler: ({ gateway, caller }) => {
      const { publicBaseUrl, uploadTokens } = gateway;
      const claims = { id: randomUUID(), ownerId: caller.user.id };
      const uploadUrl = `${publicBaseUrl}${STORAGE}/${uploadTokens.issue("write", claims)}`;
      const fileUrl = `${publicBaseUrl}${FILES}/${uploadTokens.issue("read", claims)}`;
      return Promise.resolve({ status: 200, body: { upload_url: uploadUrl, file_url: fileUrl } });
    },
  }),
  defineRoute({
    ...initiate,
    path: `${STORAGE}/initiate-multipart`,
    operationId: "falInitiateMultipartUpload",
    summary: "Reject an upload in parts",
    description: "fal's library sends files of more than 90 MB in parts, which aren't supported. Upload them with `POST /api/media`.",
    errors: ["ACCOUNT_NOT_APPROVED", "PAYLOAD_TOO_LARGE"],
    handler: () => Promise.reject(tooLarge()),
  }),
  defineRoute({
    ...byAddress,
    method: "PUT",
    path: `${STORAGE}/:token`,
    operationId: "falUpload",
    summary: "Upload a file to its address",
    description: "The bytes are the body. A repeated upload returns the first file.",
    body: fileBody(),
    responses: { 200: anyObject },
    errors: [
      ...(["INVALID_REQUEST", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "MEDIA_URL_EXPIRED"] as const),
      ...(["ACCOUNT_NOT_APPROVED", "ACCOUNT_LEAVING", "MEDIA_QUOTA_EXCEEDED"] as const),
    ],
    handler: async ({ gateway, params, request }) => {
      const claims = claimsOf(gateway, "write", params.token);
      const account = await accountOf(gateway, claims);
      return withSentFile(request, uploadBytes(account), async (file) => {
        const { id, contentType, bytes } = await storeUpload(gateway, account, file, claims.id);
        return { status: 200, body: { id, content_type: contentType, size: bytes } };
      });
    },
  }),
  defineRoute({
    ...byAddress,
    method: "GET",
    path: `${FILES}/:token`,
    operationId: "falReadFile",
    summary: "Open an uploaded file",
    description: "Redirects to an address of the file that works for an hour.",
    headers: ["Location"],
    responses: { 303: null },
    errors: ["MEDIA_URL_EXPIRED", "NOT_FOUND"],
    handler: async ({ gateway, params }) => {
      const { id, ownerId } = claimsOf(gateway, "read", params.token);
      const { objects } = await gateway.services.media.getObjects({ ids: [id], ownerId });
      const url = objects[0] && (await gateway.mediaUrls.readable(objects[0].url, { user: { id: ownerId }, visitor: true }));
      if (!url) throw notFound("file");
      return { status: 303, headers: { Location: url, "Cache-Control": "private, no-store" } };
    },
  }),
];

type Inputs = Readonly<Record<string, unknown>>;

/** Calls a function with each text in a JSON value, and puts its result there. */
const mapTexts = (value: unknown, map: (text: string) => unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_name, part: unknown) => (typeof part === "string" ? map(part) : part)) as unknown;

/**
 * Replaces addresses of uploads in the inputs of a run with those of the stored files.
 * @throws INVALID_INPUTS if an address isn't of a file of the caller
 */
export const withUploads = async (gateway: Gateway, caller: Caller, inputs: Inputs): Promise<Inputs> => {
  const prefix = `${gateway.publicBaseUrl}${FILES}/`;
  const ownerId = caller.user.id;
  /** Names of inputs, by the id of a file in them. */
  const placesById = new Map<string, string>();
  const idOf = (address: string): string | undefined => {
    const claims = address.startsWith(prefix)
      ? gateway.uploadTokens.read("read", address.slice(prefix.length), { ended: true })
      : undefined;
    return claims?.ownerId === ownerId ? claims.id : undefined;
  };
  if (!JSON.stringify(inputs).includes(prefix)) return inputs;
  const refuse = (name: string, message: string): DomainError => invalidInputs([{ path: `inputs.${name}`, message }]);
  for (const [name, value] of Object.entries(inputs)) {
    mapTexts(value, (address) => {
      if (!address.startsWith(prefix)) return address;
      const id = idOf(address);
      if (id === undefined) throw refuse(name, "is not the address of a file that you uploaded: upload the file again");
      placesById.set(id, name);
      return address;
    });
  }
  if (placesById.size === 0) return inputs;
  const ids = [...placesById.keys()];
  if (ids.length > LIMITS.mediaIds)
    throw refuse(placesById.get(ids[0]!)!, `names too many uploads: at most ${LIMITS.mediaIds} are allowed`);
  const { objects } = await gateway.services.media.getObjects({ ids, ownerId });
  const urlsById = new Map(objects.map(({ id, url }) => [id, url]));
  const missing = ids.find((id) => !urlsById.has(id));
  if (missing !== undefined) throw refuse(placesById.get(missing)!, "names an upload whose file never arrived or was deleted");
  return mapTexts(inputs, (address) => urlsById.get(idOf(address) ?? "") ?? address) as Inputs;
};
