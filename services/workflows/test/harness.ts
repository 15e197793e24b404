import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectMongo, createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { media as mediaProto, workflows as proto } from "@nodeloom/proto";
import { service as mediaService } from "../../media/src/main";
import { service } from "../src/main";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { startMigrated } from "../../../test-support/start-migrated";
import { patient } from "../../../test-support/patient";

export interface RunningWorkflows {
  client: ClientOf<proto.WorkflowsServiceServer>;
  media: ClientOf<mediaProto.MediaServiceServer>;
  /** Base URL of media files. */
  mediaUrl: string;
  create(ownerId: string, settings?: Partial<proto.CreateWorkflowRequest>): Promise<proto.Workflow>;
  update(slug: string, ownerId: string, changes: Partial<proto.UpdateWorkflowRequest>): Promise<proto.Workflow>;
  /** Name of the service's database. */
  database: string;
  close(): Promise<void>;
  /** Stops the service and removes its data. */
  stop(): Promise<void>;
}

/** A list without filters. */
export const EVERYTHING = { limit: 0, cursor: "", query: "", tag: "", folderId: "", rootLevel: false, own: false };
export const BASE_URL = "http://public.test";
const DEADLINE = { deadlineMs: 20_000 };

export const newOwner = (): string => `user-${randomUUID()}`;

/** The real service with its own database, or with the database of another replica. */
export const startWorkflows = async (prefix = `test_${randomUUID().slice(0, 8)}_`): Promise<RunningWorkflows & { prefix: string }> => {
  const uri = process.env.MONGODB_URI!;
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-workflows-"));
  // Both services need each other's address.
  const address = `127.0.0.1:${await freePort()}`;
  const shared = { MONGODB_URI: uri, MONGODB_DATABASE_PREFIX: prefix, PUBLIC_BASE_URL: BASE_URL, LOG_LEVEL: "silent" };
  const runningMedia = await startMigrated(mediaService, {
    ...shared,
    WORKFLOWS_ADDRESS: address,
    MEDIA_DIR: folder,
    MEDIA_URL_KEYS: "ab".repeat(32),
    MEDIA_LISTEN: "127.0.0.1:0",
    MEDIA_HTTP_LISTEN: "127.0.0.1:0",
  });
  const mediaAddress = `127.0.0.1:${runningMedia.ports!.MEDIA_LISTEN}`;
  const running = await startMigrated(service, { ...shared, MEDIA_ADDRESS: mediaAddress, WORKFLOWS_LISTEN: address });
  const media = patient(createGrpcClient<mediaProto.MediaServiceServer>(mediaProto.MediaServiceService, { address: mediaAddress }));
  const client = patient(createGrpcClient<proto.WorkflowsServiceServer>(proto.WorkflowsServiceService, { address }));
  const database = `${prefix}workflows`;
  const close = async (): Promise<void> => {
    client.close();
    media.close();
    await running.stop();
    await runningMedia.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    client,
    media,
    mediaUrl: `http://127.0.0.1:${runningMedia.ports!.MEDIA_HTTP_LISTEN}`,
    prefix,
    database,
    create: async (ownerId, settings = {}) =>
      (await client.createWorkflow(proto.CreateWorkflowRequest.fromPartial({ ownerId, name: "A workflow", ...settings }), DEADLINE))
        .workflow!,
    update: async (slug, ownerId, changes) =>
      (await client.updateWorkflow(proto.UpdateWorkflowRequest.fromPartial({ slug, ownerId, ...changes }), DEADLINE)).workflow!,
    close,
    stop: async () => {
      await close();
      for (const name of [database, `${prefix}media`]) {
        const connection = await connectMongo({ uri, database: name });
        await connection.dropDatabase();
        await connection.close();
      }
    },
  };
};

export const get = async ({ client }: RunningWorkflows, slug: string, userId: string): Promise<proto.Workflow> =>
  (await client.getWorkflow({ slug, userId })).workflow!;

export const NOT_FOUND = { kind: "not_found", reason: "WORKFLOW_NOT_FOUND", message: "workflow not found" };

/** Expects one INVALID_REQUEST issue at a path. */
export const invalidAt = (path: string): object => ({
  kind: "invalid",
  reason: "INVALID_REQUEST",
  metadata: { issues: expect.arrayContaining([expect.objectContaining({ path })]) as unknown },
});
