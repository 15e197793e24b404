import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { unavailable } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { BlobStore, StagedBlob } from "./blobs";
import { openStaging, type StagedFile } from "./staging";

const CONNECT_TIMEOUT_MS = 3_000;
/** Maximum pause between bytes from the store. */
const SOCKET_TIMEOUT_MS = 30_000;
/** Maximum connections to the store. Slow readers keep a connection for a long time. */
const MAX_CONNECTIONS = 500;
const ATTEMPTS = 3;
const RETRY_AFTER_SECONDS = 2;
const IMMUTABLE = "public, max-age=31536000, immutable";
const NOT_FOUND = 404;
/** Statuses for which a retry can't succeed. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 401, 403, NOT_FOUND]);

export interface S3Options {
  bucket: string;
  /** URL of the store, if it isn't AWS. The bucket is then part of the path. */
  endpoint?: string | undefined;
  region: string;
  /** Prefix of every key. */
  prefix: string;
  /** Local folder for bytes that are being received. */
  scratch: string;
  logger: Logger;
}

/** Loaded on demand, because the library is large and only installations with a bucket need it. */
const loadSdk = async () => {
  // The operator's own store: its address comes from the configuration, never from a user.
  // eslint-disable-next-line no-restricted-syntax
  const [client, storage] = await Promise.all([import("@aws-sdk/client-s3"), import("@aws-sdk/lib-storage")]);
  return { ...client, ...storage };
};

/**
 * Stores blobs as objects in an S3 bucket. Bytes are collected in a local file first, because the name depends on all of them. An object
 * either doesn't exist or has all bytes. Credentials come from the AWS default chain: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, a
 * machine or pod role, … If the store is unreachable at startup, later calls fail.
 * @throws Error if the store reports the bucket as unusable
 */
export const openS3Blobs = async ({ bucket, endpoint, region, prefix, scratch, logger }: S3Options): Promise<BlobStore> => {
  const { DeleteObjectCommand, DeleteObjectsCommand, GetObjectCommand, HeadBucketCommand, S3Client, S3ServiceException, Upload } =
    await loadSdk();
  const staging = await openStaging(scratch);
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      httpAgent: { maxSockets: MAX_CONNECTIONS },
      httpsAgent: { maxSockets: MAX_CONNECTIONS },
    },
    // Some S3-compatible stores don't support the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const statusOf = (error: unknown): number | undefined =>
    error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  const at = (name: string): { Bucket: string; Key: string } => ({ Bucket: bucket, Key: `${prefix}${name}` });

  /** Logs the store's error message for the operator. Callers get a retryable error. */
  const orUnavailable = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      logger.error({ err: error, bucket }, `the S3 store failed to ${what}`);
      throw unavailable("media storage is not available", RETRY_AFTER_SECONDS);
    }
  };

  const put = async (path: string, name: string): Promise<void> => {
    const bytes = createReadStream(path);
    try {
      await new Upload({ client, params: { ...at(name), Body: bytes, CacheControl: IMMUTABLE } }).done();
    } finally {
      bytes.destroy();
    }
  };

  const toBlob = (staged: StagedFile): StagedBlob => ({
    ...staged,
    keep: (name) => orUnavailable("keep a file", () => put(staged.path, name)),
  });

  const headBucket = (): Promise<unknown> => client.send(new HeadBucketCommand({ Bucket: bucket }));

  await headBucket().catch((error: unknown) => {
    const status = statusOf(error);
    if (REFUSALS.has(status))
      throw new Error(`MEDIA_S3_BUCKET: the store rejects the bucket "${bucket}" (status ${status}): check the credentials and its policy`);
    logger.warn({ err: error, bucket }, "the S3 store does not answer yet");
  });

  return {
    stage: async (source, maxBytes) => toBlob(await staging.stage(source, maxBytes)),
    stageFile: async (create) => toBlob(await staging.stageFile(create)),
    read: (name, range) =>
      orUnavailable("read a file", async () => {
        const Range = range && `bytes=${range.start}-${range.end}`;
        try {
          // In Node.js the body is a Readable.
          return (await client.send(new GetObjectCommand({ ...at(name), Range }))).Body as Readable;
        } catch (error) {
          if (statusOf(error) === NOT_FOUND) return undefined;
          throw error;
        }
      }),
    remove: (name) => orUnavailable("remove a file", async () => void (await client.send(new DeleteObjectCommand(at(name))))),
    removeAll: (names) =>
      orUnavailable("remove files", async () => {
        const Objects = names.map((name) => ({ Key: at(name).Key }));
        const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
        if (Errors[0]) throw new Error(`${Errors.length} files were not removed: ${Errors[0].Code}, ${Errors[0].Message}`);
      }),
    check: async () => {
      await Promise.all([staging.check(), orUnavailable("answer", headBucket)]);
    },
    close: () => client.destroy(),
  };
};
