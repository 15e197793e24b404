import {
  connectMongo,
  defineService,
  grpcService,
  hostPort,
  isConnected,
  runProcess,
  startGrpcServer,
  variables,
} from "@nodeloom/platform";
import { workflows as proto } from "@nodeloom/proto";
import { createCap } from "./cap";
import { createClaimStore } from "./claim-store";
import { createFolders } from "./folders";
import { createFolderStore } from "./folder-store";
import { workflowsHandlers } from "./server";
import { createWorkflowStore } from "./store";
import { createWorkflows } from "./workflows";

/** Workflow definitions, their input schemas and their folders. */
export const service = defineService({
  name: "workflows",
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    WORKFLOWS_LISTEN: hostPort().default("127.0.0.1:50052").describe("where the workflows service listens for gRPC"),
  },
  start: async ({ config, logger }) => {
    const connection = await connectMongo({ uri: config.MONGODB_URI, database: `${config.MONGODB_DATABASE_PREFIX}workflows` });
    const store = createWorkflowStore(connection);
    const folderStore = createFolderStore(connection);
    await Promise.all([store.createIndexes(), folderStore.createIndexes()]);
    const withinCap = createCap({ claims: createClaimStore(connection), saved: store.savedCreationIds });
    const workflows = createWorkflows({ store, folders: folderStore, withinCap });
    const folders = createFolders({ store: folderStore, empty: (id, ownerId) => store.leaveFolder(id, ownerId, new Date()) });
    const services = [grpcService(proto.WorkflowsServiceService, workflowsHandlers(workflows, folders))];
    const grpc = await startGrpcServer({ listen: config.WORKFLOWS_LISTEN, services, logger, tls: config });
    return {
      ports: { WORKFLOWS_LISTEN: grpc.port },
      checks: { mongodb: () => isConnected(connection) },
      stop: async () => {
        await grpc.stop();
        await connection.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
