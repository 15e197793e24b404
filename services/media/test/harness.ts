import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectMongo, createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import { service } from "../src/main";
import { URL_KEY } from "../../../test-support/signed";
import { startMigrated } from "../../../test-support/start-migrated";
import { patient } from "../../../test-support/patient";

export const OWNER = "user-1";
export const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(64, 7)]);
export const WAV = Buffer.concat([Buffer.from("RIFF\x24\0\0\0WAVEfmt ", "latin1"), Buffer.alloc(64)]);

export interface RunningMedia {
  client: ClientOf<media.MediaServiceServer>;
  /** gRPC address, host:port. */
  address: string;
  /** Base URL for file downloads. */
  http: string;
  folder: string;
  upload(bytes: Buffer, header?: Partial<media.UploadHeader>): Promise<media.StoredObject>;
  ingest(id: string, sourceUrl: string, accept?: string[], ownerId?: string): Promise<media.StoredObject>;
  /** Ends the process and keeps its data. */
  close(): Promise<void>;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

const CHUNK = 256 * 1024;

export const uploadMessages = function* (bytes: Buffer, header: Partial<media.UploadHeader> = {}): Iterable<media.UploadRequest> {
  yield media.UploadRequest.fromPartial({ part: { $case: "header", value: { ownerId: OWNER, ...header } } });
  for (let at = 0; at < bytes.length; at += CHUNK) {
    yield media.UploadRequest.fromPartial({ part: { $case: "chunk", value: bytes.subarray(at, at + CHUNK) } });
  }
  yield media.UploadRequest.fromPartial({ part: { $case: "end", value: {} } });
};

/** The real service with its own database and folder. */
export const startMedia = async (
  egressAllow: string[] = [],
  reuse?: { folder: string; prefix: string },
  env: Record<string, string> = {},
): Promise<RunningMedia & { prefix: string }> => {
  const folder = reuse?.folder ?? (await mkdtemp(join(tmpdir(), "nodeloom-media-")));
  const prefix = reuse?.prefix ?? `test_${randomUUID().slice(0, 8)}_`;
  const uri = process.env.MONGODB_URI!;
  const running = await startMigrated(service, {
    MONGODB_URI: uri,
    MONGODB_DATABASE_PREFIX: prefix,
    PUBLIC_BASE_URL: "http://public.test",
    PROVIDER_EGRESS_ALLOW: egressAllow.join(","),
    MEDIA_DIR: folder,
    MEDIA_URL_KEYS: URL_KEY,
    MEDIA_LISTEN: "127.0.0.1:0",
    MEDIA_HTTP_LISTEN: "127.0.0.1:0",
    LOG_LEVEL: "silent",
    ...env,
  });
  const client = patient(
    createGrpcClient<media.MediaServiceServer>(media.MediaServiceService, {
      address: `127.0.0.1:${running.ports!.MEDIA_LISTEN}`,
    }),
  );
  const close = async (): Promise<void> => {
    client.close();
    await running.stop();
  };
  return {
    client,
    address: `127.0.0.1:${running.ports!.MEDIA_LISTEN}`,
    folder,
    prefix,
    http: `http://127.0.0.1:${running.ports!.MEDIA_HTTP_LISTEN}`,
    upload: async (bytes, header) => (await client.upload(uploadMessages(bytes, header), { deadlineMs: 20_000 })).object!,
    ingest: async (id, sourceUrl, accept = [], ownerId = OWNER) =>
      (await client.ingest(media.IngestRequest.fromPartial({ id, ownerId, sourceUrl, accept }), { deadlineMs: 20_000 })).object!,
    close,
    stop: async () => {
      await close();
      const connection = await connectMongo({ uri, database: `${prefix}media` });
      await connection.dropDatabase();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
