import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMediaUrls } from "@nodeloom/kernel";
import { connectMongo, createGrpcClient, type ClientOf, type RunningService } from "@nodeloom/platform";
import { media, models, workflows, type executions } from "@nodeloom/proto";
import { service as mediaService } from "@nodeloom/media";
import { service as modelsService } from "@nodeloom/models";
import { service as workflowsService } from "@nodeloom/workflows";
import { createModelCatalog } from "../../src/plan/model-catalog";
import type { Measure } from "../../src/plan/measures";
import { createLocalPlanner, type LocalPlannerOptions } from "../../src/plan/planner/local";
import { startMigrated } from "../../../../test-support/start-migrated";
import type { Planner } from "../../src/plan/planner/protocol";
import { createPlanning, type Planning } from "../../src/plan/planning";
import { patient } from "../../../../test-support/patient";

/** The services behind planning, each with its own database: models, workflows and media. */

const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(64, 7)]);

/** A planner without a thread. It clones messages as threads do. */
export const planInProcess = (options?: LocalPlannerOptions): Planner => {
  const local = createLocalPlanner(options);
  return {
    needs: (graph) => Promise.resolve(structuredClone(local.needs(structuredClone(graph)))),
    plan: (task) => Promise.resolve(structuredClone(local.plan(structuredClone(task)))),
  };
};

export interface PlanningServices {
  clients: {
    models: ClientOf<models.ModelsServiceServer>;
    workflows: ClientOf<workflows.WorkflowsServiceServer>;
    media: ClientOf<media.MediaServiceServer>;
  };
  planning: Planning;
  /** Saves a workflow; edges are pairs of `node.port`. */
  create(nodes: unknown[], edges?: [string, string][], ownerId?: string, isTemplate?: boolean): Promise<executions.Target["target"]>;
  /** Stores a small picture. @returns its id */
  upload(ownerId: string): Promise<string>;
  stop(): Promise<void>;
}

/** Measures of an installation that has made no calls. */
export const notMeasured: Measure = (models) =>
  Promise.resolve(models.map(() => ({ calls: 0, errorRate: null, p50Ms: null, isUnavailable: false })));

export const startPlanningServices = async (options: LocalPlannerOptions & { measure?: Measure } = {}): Promise<PlanningServices> => {
  const prefix = `test_${randomUUID().slice(0, 8)}_`;
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-planning-"));
  const env = {
    MONGODB_URI: process.env.MONGODB_URI!,
    MONGODB_DATABASE_PREFIX: prefix,
    MODELS_LISTEN: "127.0.0.1:0",
    WORKFLOWS_LISTEN: "127.0.0.1:0",
    MEDIA_LISTEN: "127.0.0.1:0",
    MEDIA_HTTP_LISTEN: "127.0.0.1:0",
    MEDIA_DIR: folder,
    MEDIA_URL_KEYS: "ab".repeat(32),
    PUBLIC_BASE_URL: "http://public.test",
    SANDBOX_URL: "http://127.0.0.1:8090",
    // No server listens there, so local models are unavailable.
    INFERENCE_URL: "http://127.0.0.1:1",
    LOG_LEVEL: "silent",
  };
  const stores = await startMigrated(mediaService, env);
  const rest = { ...env, MEDIA_ADDRESS: `127.0.0.1:${stores.ports!.MEDIA_LISTEN}` };
  const running: RunningService[] = [
    ...(await Promise.all([modelsService, workflowsService].map((one) => startMigrated(one, rest)))),
    stores,
  ];
  const at = (index: number, name: string): { address: string } => ({ address: `127.0.0.1:${running[index]!.ports![name]}` });
  const clients = {
    models: patient(createGrpcClient<models.ModelsServiceServer>(models.ModelsServiceService, at(0, "MODELS_LISTEN"))),
    workflows: patient(createGrpcClient<workflows.WorkflowsServiceServer>(workflows.WorkflowsServiceService, at(1, "WORKFLOWS_LISTEN"))),
    media: patient(createGrpcClient<media.MediaServiceServer>(media.MediaServiceService, at(2, "MEDIA_LISTEN"))),
  };
  const planning = createPlanning({
    urls: createMediaUrls("https://platform.test", ["https://former.test"]),
    workflows: clients.workflows,
    media: clients.media,
    requirePrograms: () => Promise.resolve(),
    requireSecrets: () => Promise.resolve(),
    catalog: createModelCatalog(clients.models),
    measure: options.measure ?? notMeasured,
    planner: planInProcess(options),
  });
  return {
    clients,
    planning,
    create: async (nodes, edges = [], ownerId = "owner", isTemplate = false) => {
      const port = (end: string): string[] => end.split(".");
      const { workflow } = await clients.workflows.createWorkflow(
        workflows.CreateWorkflowRequest.fromPartial({
          ownerId,
          isTemplate,
          name: "Plan",
          nodesJson: JSON.stringify(nodes),
          edgesJson: JSON.stringify(
            edges.map(([from, to], index) => ({
              id: `e${index}`,
              source: port(from)[0],
              sourceHandle: port(from)[1],
              target: port(to)[0],
              targetHandle: port(to)[1],
            })),
          ),
        }),
        { deadlineMs: 20_000 },
      );
      return { $case: "workflowSlug", value: workflow!.slug };
    },
    upload: async (ownerId) => {
      const { object } = await clients.media.upload(
        [
          media.UploadRequest.fromPartial({ part: { $case: "header", value: { ownerId } } }),
          media.UploadRequest.fromPartial({ part: { $case: "chunk", value: PNG } }),
          media.UploadRequest.fromPartial({ part: { $case: "end", value: {} } }),
        ],
        { deadlineMs: 20_000 },
      );
      return object!.id;
    },
    stop: async () => {
      for (const client of Object.values(clients)) client.close();
      await Promise.all(running.map((each) => each.stop()));
      for (const name of ["models", "workflows", "media"]) {
        const connection = await connectMongo({ uri: env.MONGODB_URI, database: `${prefix}${name}` });
        await connection.dropDatabase();
        await connection.close();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
