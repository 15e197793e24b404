import { retry } from "@nodeloom/platform";
import type { ProviderSettings } from "./entries/settings";
import { mayPass, ProviderError, type DialectContext } from "./dialect";
import { multipart, type SentFile } from "./multipart";
import { contextOf } from "./own-server";
import { pointer } from "./pointer";
import { createTransport, type Transport } from "./transport";

/** Uploads files to the storage of providers. */

/** Time-out of one attempt. */
const UPLOAD_MS = 120_000;
const PAUSES_MS = [500, 2_000, 5_000];
const HOUR_MS = 3_600_000;
/** An upload isn't reused if it expires within this time, because a job can wait in a queue before it reads its inputs. */
const MARGIN_MS = 3 * HOUR_MS;
/** Lifetime of files if the response doesn't state it. */
const KEPT_MS = 24 * HOUR_MS;

export interface UploadedFile {
  /** The provider's name for the file. */
  reference: string;
  /** Expiry of the reference, in milliseconds since the epoch. */
  until: number;
}

type UploadSettings = NonNullable<ProviderSettings["upload"]>;

/** @throws ProviderError if the response has no text at the path */
const textAt = (answer: unknown, path: string): string => {
  const uploadUrl = pointer(answer, path);
  if (typeof uploadUrl === "string" && uploadUrl !== "") return uploadUrl;
  throw new ProviderError("failed", `the answer of the provider's storage has no ${path.slice(1)}`);
};

const usual = (reference: string): UploadedFile => ({ reference, until: Date.now() + KEPT_MS - MARGIN_MS });

type Upload = (transport: Transport, baseUrl: string, file: SentFile) => Promise<UploadedFile>;

/** Follows `@fal-ai/client` 1.10. */
const toFal: Upload = async (transport, baseUrl, { name, contentType, length, read }) => {
  const answer = await transport.json({
    method: "POST",
    url: `${baseUrl}/storage/upload/initiate?storage_type=fal-cdn-v3`,
    body: { content_type: contentType, file_name: name },
  });
  const raw = { contentType, length, bytes: read() };
  await transport.done({ method: "PUT", url: textAt(answer, "/upload_url"), raw, isPresigned: true, timeoutMs: UPLOAD_MS });
  return usual(textAt(answer, "/file_url"));
};

/** Follows `replicate` 1.4. */
const toReplicate: Upload = async (transport, baseUrl, file) => {
  const raw = multipart([
    ["metadata", "{}"],
    ["content", file],
  ]);
  const answer = await transport.json({ method: "POST", url: `${baseUrl}/v1/files`, raw, timeoutMs: UPLOAD_MS });
  const uploaded = usual(textAt(answer, "/urls/get"));
  const expires = Date.parse(String(pointer(answer, "/expires_at")));
  return Number.isNaN(expires) ? uploaded : { ...uploaded, until: expires - MARGIN_MS };
};

/** Follows `@runwayml/sdk` 4.20. */
const toRunway: Upload = async (transport, baseUrl, file) => {
  const version = { "X-Runway-Version": "2024-11-06" };
  const body = { filename: file.name, type: "ephemeral" };
  const answer = await transport.json({ method: "POST", url: `${baseUrl}/v1/uploads`, headers: version, body });
  const fields = Object.entries((pointer(answer, "/fields") ?? {}) as object).map(([name, value]) => [name, String(value)] as const);
  const raw = multipart([...fields, ["file", file]]);
  await transport.done({ method: "POST", url: textAt(answer, "/uploadUrl"), raw, isPresigned: true, timeoutMs: UPLOAD_MS });
  return usual(textAt(answer, "/runwayUri"));
};

/** Follows `server.py`. Existing files are found by content. Loaders include the folder in the file name. */
const toComfyUi: Upload = async (transport, baseUrl, file) => {
  const raw = multipart([
    ["type", "input"],
    ["subfolder", "nodeloom"],
    ["image", file],
  ]);
  const answer = await transport.json({ method: "POST", url: `${baseUrl}/upload/image`, raw, timeoutMs: UPLOAD_MS });
  const [name, folder] = [textAt(answer, "/name"), pointer(answer, "/subfolder")];
  return usual(typeof folder === "string" && folder !== "" ? `${folder}/${name}` : name);
};

const UPLOADS: Readonly<Record<UploadSettings["api"], Upload>> = {
  fal: toFal,
  replicate: toReplicate,
  runway: toRunway,
  comfyui: toComfyUi,
};

/** Identifies a provider's upload storage and account, which all models that use them share. */
export const storageOf = ({ upload, baseUrl, auth }: ProviderSettings): string =>
  `${upload?.api} ${upload?.baseUrl ?? baseUrl} ${auth?.secretEnv ?? ""}`;

/** @throws ProviderError after several failed attempts */
export const uploadFile = (
  context: DialectContext,
  settings: ProviderSettings & { upload: UploadSettings },
  file: SentFile,
): Promise<UploadedFile> => {
  const { api, baseUrl = settings.baseUrl } = settings.upload;
  const transport = createTransport(contextOf(context, settings), settings);
  // Retried without an idempotency key, because storing a file twice is harmless.
  return retry(() => UPLOADS[api](transport, baseUrl, file), { pausesMs: PAUSES_MS, shouldRetry: mayPass });
};
