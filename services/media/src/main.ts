import {
  connectMongo,
  createEgressClient,
  defineService,
  grpcService,
  hostPort,
  runProcess,
  startGrpcServer,
  startHttpServer,
  variables,
} from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import { z } from "zod";
import { openFolderBlobs } from "./blobs";
import { mediaHttp } from "./http";
import { createObjects } from "./objects";
import { mediaHandlers } from "./server";
import { openSource } from "./source";
import { createObjectStore } from "./store";

/** Media storage: objects over gRPC, their bytes over HTTP. */
export const service = defineService({
  name: "media",
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
    EGRESS_ALLOW: variables.EGRESS_ALLOW,
    MEDIA_DIR: z.string().describe("folder that holds the stored files"),
    MEDIA_LISTEN: hostPort().default("127.0.0.1:50057").describe("where the media service listens for gRPC"),
    MEDIA_HTTP_LISTEN: hostPort().default("127.0.0.1:8081").describe("where the media service serves bytes over HTTP"),
  },
  start: async ({ config, logger }) => {
    const connection = await connectMongo({ uri: config.MONGODB_URI, database: `${config.MONGODB_DATABASE_PREFIX}media` });
    const store = createObjectStore(connection);
    await store.createIndexes();
    const blobs = await openFolderBlobs(config.MEDIA_DIR);
    const egress = createEgressClient({ allow: config.EGRESS_ALLOW });
    const objects = createObjects({ store, blobs, openSource: (url) => openSource(egress, url) });
    const handlers = mediaHandlers(objects, config.PUBLIC_BASE_URL);
    const services = [grpcService(media.MediaServiceService, handlers)];
    const grpc = await startGrpcServer({ listen: config.MEDIA_LISTEN, services, logger, tls: config });
    const http = await startHttpServer({ listen: config.MEDIA_HTTP_LISTEN, app: mediaHttp({ store, blobs, logger }) });
    return {
      ports: { MEDIA_LISTEN: grpc.port, MEDIA_HTTP_LISTEN: http.port },
      stop: async () => {
        await Promise.all([grpc.stop(), http.stop()]);
        await egress.close();
        await connection.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
