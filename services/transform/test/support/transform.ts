import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DomainError } from "@nodeloom/kernel";
import { service as mediaService } from "@nodeloom/media";
import { connectMongo, createGrpcClient, uploadParts, type ClientOf } from "@nodeloom/platform";
import { media, transform } from "@nodeloom/proto";
import { patient } from "../../../../test-support/patient";
import { startMigrated } from "../../../../test-support/start-migrated";
import { service } from "../../src/main";

/** The real service with a media service. */

export const USER = "user-1";
const DEADLINE_MS = 120_000;

export interface RunningTransform {
  client: ClientOf<transform.TransformServiceServer>;
  media: ClientOf<media.MediaServiceServer>;
  /** Stores a file of the user. @returns its key */
  upload(bytes: Buffer): Promise<string>;
  /** Runs an operation with a new call id. Files are passed by port. */
  run(
    operation: string,
    settings: object,
    files: Record<string, Buffer | string | (Buffer | string)[]>,
    call?: { callId?: string; signal?: AbortSignal },
  ): Promise<transform.Output>;
  failure(...run: Parameters<RunningTransform["run"]>): Promise<DomainError>;
  bytesOf(output: transform.Output): Promise<Buffer>;
  /** Files left in the folders of operations. */
  leftovers(): Promise<string[]>;
  stop(): Promise<void>;
}

const NOTHING = "127.0.0.1:1";

export const startTransform = async (env: Record<string, string> = {}): Promise<RunningTransform> => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-transform-test-"));
  const prefix = `test_${randomUUID().slice(0, 8)}_`;
  const uri = process.env.MONGODB_URI!;
  const common = { LOG_LEVEL: "silent", MONGODB_URI: uri, MONGODB_DATABASE_PREFIX: prefix };
  const storage = await startMigrated(mediaService, {
    ...common,
    PUBLIC_BASE_URL: "http://public.test",
    MEDIA_DIR: join(folder, "media"),
    MEDIA_URL_KEYS: "ab".repeat(32),
    MEDIA_LISTEN: "127.0.0.1:0",
    MEDIA_HTTP_LISTEN: "127.0.0.1:0",
    WORKFLOWS_ADDRESS: NOTHING,
    TRANSFORM_ADDRESS: NOTHING,
  });
  const mediaAddress = `127.0.0.1:${storage.ports!.MEDIA_LISTEN}`;
  const work = join(folder, "work");
  const running = await service.start({
    ...common,
    MEDIA_ADDRESS: mediaAddress,
    TRANSFORM_LISTEN: "127.0.0.1:0",
    TRANSFORM_DIR: work,
    TRANSFORM_CONCURRENCY: "2",
    ...env,
  });
  const client = createGrpcClient<transform.TransformServiceServer>(transform.TransformServiceService, {
    address: `127.0.0.1:${running.ports!.TRANSFORM_LISTEN}`,
  });
  const store = patient(createGrpcClient<media.MediaServiceServer>(media.MediaServiceService, { address: mediaAddress }));

  const upload = async (bytes: Buffer): Promise<string> => {
    const header = media.UploadHeader.fromPartial({ ownerId: USER });
    return (await store.upload(uploadParts(header, [bytes]), { deadlineMs: DEADLINE_MS })).object!.key;
  };
  const run: RunningTransform["run"] = async (operation, settings, files, { callId = randomUUID(), signal } = {}) => {
    const inputs = await Promise.all(
      Object.entries(files).flatMap(([port, fileInput]) =>
        [fileInput].flat().map(async (one) => ({ port, key: typeof one === "string" ? one : await upload(one) })),
      ),
    );
    const request = transform.RunRequest.fromPartial({ callId, userId: USER, operation, settingsJson: JSON.stringify(settings), inputs });
    return (await client.run(request, { deadlineMs: DEADLINE_MS, ...(signal ? { signal } : {}) })).outputs[0]!;
  };
  return {
    client,
    media: store,
    upload,
    run,
    failure: async (...args) =>
      run(...args).then(
        () => {
          throw new Error(`${args[0]} was expected to fail`);
        },
        (error: DomainError) => error,
      ),
    bytesOf: async ({ object }) => {
      const chunks: Buffer[] = [];
      for await (const { part } of store.readObject({ key: object!.key }))
        if (part?.$case === "chunk") chunks.push(Buffer.from(part.value));
      return Buffer.concat(chunks);
    },
    leftovers: async () => {
      const [own] = await readdir(work);
      return own === undefined ? [] : readdir(join(work, own));
    },
    stop: async () => {
      client.close();
      store.close();
      await running.stop();
      await storage.stop();
      const connection = await connectMongo({ uri, database: `${prefix}media` });
      await connection.dropDatabase();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
