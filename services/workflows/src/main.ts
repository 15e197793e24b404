import {
  createGrpcClient,
  defineService,
  erasureHandlers,
  grpcService,
  addressVariables,
  listenVariable,
  openDatabase,
  runProcess,
  serveGrpc,
  variables,
} from "@nodeloom/platform";
import { erasure, media as mediaProto, workflows as proto } from "@nodeloom/proto";
import { createApps } from "./apps/apps";
import { database } from "./database";
import { createBundled } from "./bundled";
import { createCanaryStore } from "./canaries/canary-store";
import { createCanaries } from "./canaries/counting";
import { createCap, TEMPLATES_SUFFIX, templateCapReached, workflowCapReached } from "./cap/cap";
import { createClaimStore } from "./cap/claim-store";
import { createClone } from "./clone";
import { createEraseWorkflows } from "./erasure-store";
import { createFolders } from "./folders/folders";
import { createFolderStore } from "./folders/folder-store";
import { createInlineThumbnails } from "./pictures/inline-thumbnails";
import { createPictures } from "./definition/pictures";
import { workflowsHandlers } from "./server";
import { createWorkflowStore } from "./store/workflow-store";
import { createTemplates } from "./templates";
import { createThumbnailAddresses } from "./pictures/thumbnails";
import { createTools } from "./tools";
import { createAliases } from "./versions/aliases";
import { createPassedTests } from "./versions/passed-tests";
import { createVersionStore } from "./versions/version-store";
import { createVersions } from "./versions/versions";
import { createWorkflows } from "./workflows";

export const service = defineService({
  name: "workflows",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
    FORMER_PUBLIC_BASE_URLS: variables.FORMER_PUBLIC_BASE_URLS,
    ...addressVariables("workflows"),
    ...listenVariable("workflows"),
  },
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const store = createWorkflowStore(connection);
    const folderStore = createFolderStore(connection);
    const versionStore = createVersionStore(connection);
    const canaryStore = createCanaryStore(connection);
    const media = createGrpcClient<mediaProto.MediaServiceServer>(mediaProto.MediaServiceService, {
      address: config.MEDIA_ADDRESS,
      tls: config,
    });
    const claims = createClaimStore(connection);
    const pictures = createPictures(config.PUBLIC_BASE_URL, config.FORMER_PUBLIC_BASE_URLS);
    const workflows = createWorkflows({
      store,
      versions: versionStore,
      canaries: canaryStore,
      folders: folderStore,
      pictures,
      inlineThumbnails: createInlineThumbnails({
        media,
        warn: (error, id) => logger.warn({ err: error, id }, "the file of a thumbnail could not be removed"),
      }),
      withinCap: createCap({ claims, saved: (owner, limit) => store.creationIds(owner, false, limit), refusal: workflowCapReached }),
      withinTemplates: createCap({
        claims,
        suffix: TEMPLATES_SUFFIX,
        saved: (owner, limit) => store.creationIds(owner, true, limit),
        refusal: templateCapReached,
      }),
    });
    const folders = createFolders({ store: folderStore, empty: (id, ownerId) => store.leaveFolder(id, ownerId, new Date()) });
    const versions = createVersions({ store, versions: versionStore, update: workflows.update });
    const aliases = createAliases({ store, versions: versionStore, canaries: canaryStore });
    const handlers = workflowsHandlers({
      ...{ workflows, pictures, folders, versions, aliases },
      canaries: createCanaries({ store: canaryStore, end: aliases.endCanary }),
      passedTests: createPassedTests({ store, versions: versionStore }),
      bundled: createBundled({ store, workflows, versions, aliases, folders }),
      templates: createTemplates({ store, versions: versionStore }),
      tools: createTools({ store, versions: versionStore }),
      apps: createApps({ store, versions: versionStore, pictures }),
      clone: createClone({
        media,
        pictures,
        read: workflows.get,
        earlierClone: workflows.earlierCreated,
        checkCap: workflows.checkCap,
        create: workflows.create,
      }),
      thumbnailAddresses: createThumbnailAddresses({
        store,
        media,
        pictures,
        warn: (error, slug) => logger.warn({ err: error, slug }, "a thumbnail could not be made a file yet"),
      }),
    });
    return serveGrpc({
      service: grpcService(proto.WorkflowsServiceService, handlers),
      more: [grpcService(erasure.ErasureServiceService, erasureHandlers(createEraseWorkflows({ connection, store, workflows })))],
      config,
      listen: "WORKFLOWS_LISTEN",
      connection,
      logger,
      stop: async () => media.close(),
    });
  },
});

if (require.main === module) void runProcess([service]);
