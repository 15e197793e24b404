import { statfs } from "node:fs/promises";
import { mediaPrefix } from "@nodeloom/kernel";
import {
  answeringMs,
  createEgressClient,
  createGrpcClient,
  defineService,
  erasureHandlers,
  grpcService,
  addressVariables,
  hostPort,
  integer,
  listenVariable,
  isConnected,
  observedGauge,
  openDatabase,
  runProcess,
  startGrpcServer,
  startHttpServer,
  variables,
  type Logger,
  type Reading,
} from "@nodeloom/platform";
import { erasure, media, mediaExports, transform as transformProto, workflows as workflowsProto } from "@nodeloom/proto";
import { z } from "zod";
import { database } from "./database";
import type { BlobStore } from "./blobs/blobs";
import { openFolderBlobs } from "./blobs/folder-blobs";
import { createCountStore } from "./objects/count-store";
import { createEraseMedia } from "./erasure-store";
import { createExportStore } from "./exports/export-store";
import { createExports } from "./exports/exports";
import { exportsHandlers } from "./exports/server";
import { createExpiry } from "./objects/expiry";
import { mediaHttp } from "./http";
import { createLibrary } from "./objects/library";
import { createObjects } from "./objects/objects";
import { createReceive } from "./objects/receiving";
import { createStrip } from "./strip/strip";
import { createGrantStore } from "./urls/grant-store";
import { createSignatures, urlKeys } from "./urls/signatures";
import { readableUrl } from "./urls/readable";
import { createUrls } from "./urls/urls";
import { createPurge } from "./objects/purge";
import { createQuota } from "./objects/quota";
import { createRunFiles } from "./objects/run-files";
import { openS3Blobs } from "./blobs/s3-blobs";
import { createFindMark } from "./credentials/mark-staged";
import { createCredentialStore } from "./credentials/credential-store";
import { createCredentials } from "./credentials/credentials";
import { provenanceSettings } from "./credentials/own-credential";
import { createMeasure } from "./measure/measure";
import { createProvenance } from "./provenance/ancestors";
import { createParents } from "./provenance/parents";
import { mediaHandlers } from "./server";
import { openSource, PROVIDER_REDIRECTS, USER_REDIRECTS } from "./source";
import { createThumbnails, type ThumbnailsDeps } from "./thumbnails/thumbnails";
import { createObjectStore } from "./store/store";

interface BlobsConfig {
  MEDIA_DIR: string;
  MEDIA_S3_BUCKET?: string | undefined;
  MEDIA_S3_ENDPOINT?: string | undefined;
  MEDIA_S3_REGION: string;
  MEDIA_S3_PREFIX: string;
}

const openBlobs = (config: BlobsConfig, logger: Logger): Promise<BlobStore> => {
  const { MEDIA_DIR: folder, MEDIA_S3_BUCKET: bucket } = config;
  if (bucket === undefined) return openFolderBlobs(folder);
  const { MEDIA_S3_ENDPOINT: endpoint, MEDIA_S3_REGION: region, MEDIA_S3_PREFIX: prefix } = config;
  return openS3Blobs({ bucket, endpoint, region, prefix, scratch: folder, logger });
};

/** Deadline for rendering a thumbnail. */
const RENDER_MS = 30_000;
/** Deadline of the call that asks the workflows service which files are in use. */
const NAMED_MS = 5_000;

const diskOf = async (folder: string): Promise<Reading[]> => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return [
    { value: bavail * bsize, attributes: { kind: "free" } },
    { value: blocks * bsize, attributes: { kind: "total" } },
  ];
};

export const service = defineService({
  name: "media",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
    PROVIDER_EGRESS_ALLOW: variables.PROVIDER_EGRESS_ALLOW,
    USER_EGRESS_ALLOW: variables.USER_EGRESS_ALLOW,
    MEDIA_DIR: z.string().describe("folder for the stored files; with a bucket, only for those that are being uploaded to it"),
    MEDIA_S3_BUCKET: z.string().optional().describe("bucket of an S3-compatible store for the files, instead of the folder"),
    MEDIA_S3_ENDPOINT: z.url().optional().describe("address of the S3-compatible store. Default: AWS"),
    MEDIA_S3_REGION: z.string().default("us-east-1").describe("region of the bucket"),
    MEDIA_S3_PREFIX: z.string().default("").describe("prefix of the file names in the bucket, such as `media/`"),
    PROVENANCE: z
      .enum(["off", "metadata", "signed"])
      .optional()
      .describe(
        "marks of generated files: `metadata` writes the IPTC digital source type, `signed` adds signed content credentials (C2PA); without it `signed` if there is a certificate, else `metadata`",
      ),
    PROVENANCE_CERTIFICATE: z
      .string()
      .optional()
      .describe(
        "certificate that signs generated files, with its chain (PEM, or that in base64); without it a self-made one, which other validators don't trust",
      ),
    PROVENANCE_KEY: z.string().optional().describe("key of that certificate: elliptic curve, P-256 or P-384 (PEM, or that in base64)"),
    MEDIA_URL_KEYS: urlKeys().describe(
      "keys (64 hexadecimal digits each, comma separated) that sign the addresses of files; the first signs, all verify",
    ),
    MEDIA_URL_HOURS: integer(1)
      .default(24)
      .describe("hours for which the address of a file in a response is valid, rounded up to the hour"),
    ...listenVariable("media"),
    ...addressVariables("media"),
    MEDIA_HTTP_LISTEN: hostPort().default("127.0.0.1:8081").describe("address at which media serves files over HTTP"),
  },
  start: async ({ config, logger }) => {
    const settings = provenanceSettings(config);
    const blobs = await openBlobs(config, logger);
    observedGauge("nodeloom.media.disk", "bytes of the disk with MEDIA_DIR, free and in total", () => diskOf(config.MEDIA_DIR));
    const connection = await openDatabase(database, config, logger);
    const store = createObjectStore(connection);
    const providerEgress = createEgressClient({ allow: config.PROVIDER_EGRESS_ALLOW });
    const userEgress = createEgressClient({ allow: config.USER_EGRESS_ALLOW });
    const quota = createQuota({ counts: createCountStore(connection), objects: store });
    const measuring = createMeasure();
    const findMark = createFindMark(settings.mode);
    const signers = createCredentialStore(connection);
    const credentials = createCredentials({ settings, folder: config.MEDIA_DIR, store: signers, blobs, logger });
    const own = mediaPrefix(config.PUBLIC_BASE_URL);
    const receive = createReceive({
      strip: createStrip(blobs),
      ...{ store, quota, blobs, findMark, sign: credentials.sign, measuring },
      parents: createParents(store, own),
    });
    const transform = createGrpcClient<transformProto.TransformServiceServer>(transformProto.TransformServiceService, {
      address: config.TRANSFORM_ADDRESS,
      tls: config,
    });
    const render: ThumbnailsDeps["render"] = (key, width) => transform.renderPreview({ key, width }, { deadlineMs: RENDER_MS });
    const thumbnails = createThumbnails({ store, blobs, findMark, render });
    const warn = (error: unknown, { id }: { id: string }): void =>
      logger.warn({ err: error, id }, "the bytes of a file could not be removed yet");
    const workflows = createGrpcClient<workflowsProto.WorkflowsServiceServer>(workflowsProto.WorkflowsServiceService, {
      address: config.WORKFLOWS_ADDRESS,
      tls: config,
    });
    const grants = createGrantStore(connection);
    const urls = createUrls({
      ...{ objects: store, grants, signatures: createSignatures(config.MEDIA_URL_KEYS), hours: config.MEDIA_URL_HOURS },
      findShown: async (names, ownerId) => (await workflows.findShownMedia({ names, ownerId }, { deadlineMs: NAMED_MS })).names,
    });
    const { purge, purgeAll } = createPurge({ store, blobs, grants, warn });
    const objects = createObjects({
      ...{ store, quota, blobs, receive, purge },
      openSource: async ({ url, byUser }, ownerId) => {
        const readable = await readableUrl(urls, own, url, ownerId);
        return byUser ? openSource(userEgress, readable, USER_REDIRECTS) : openSource(providerEgress, readable, PROVIDER_REDIRECTS);
      },
    });
    const findNamed = async (names: string[]) => (await workflows.findNamedMedia({ names }, { deadlineMs: NAMED_MS })).names;
    const exports = createExports({ store: createExportStore(connection), blobs });
    const handlers = mediaHandlers({
      objects,
      library: createLibrary({ store, blobs, quota, objects, purge }),
      urls,
      provenance: createProvenance(store),
      verify: credentials.verify,
      removeExpired: createExpiry({ store, quota, purgeAll, findNamed, removeExports: exports.removeExpired }),
      runFiles: createRunFiles({ store, quota, purge, findNamed }),
      baseUrl: config.PUBLIC_BASE_URL,
    });
    const services = [
      grpcService(media.MediaServiceService, handlers),
      grpcService(mediaExports.ExportsServiceService, exportsHandlers(exports)),
      grpcService(erasure.ErasureServiceService, erasureHandlers(createEraseMedia({ connection, store, purgeAll, exports }))),
    ];
    // File transfers can take the whole shutdown period.
    const graceMs = answeringMs(config);
    const grpc = await startGrpcServer({ listen: config.MEDIA_LISTEN, services, logger, tls: config, graceMs });
    const http = await startHttpServer({
      listen: config.MEDIA_HTTP_LISTEN,
      app: mediaHttp({ store, blobs, thumbnails, urls, logger }),
      graceMs,
    });
    return {
      ports: { MEDIA_LISTEN: grpc.port, MEDIA_HTTP_LISTEN: http.port },
      drain: http.drain,
      checks: { mongodb: () => isConnected(connection) },
      stop: async () => {
        await Promise.all([grpc.stop(), http.stop()]);
        await Promise.all([measuring.stop(), credentials.stop()]);
        workflows.close();
        transform.close();
        await Promise.all([providerEgress.close(), userEgress.close()]);
        blobs.close();
        await connection.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
