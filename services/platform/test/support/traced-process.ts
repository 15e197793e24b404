import {
  createGrpcClient,
  defineService,
  grpcService,
  hostPort,
  runProcess,
  serverStream,
  startGrpcServer,
  startHttpServer,
  unary,
} from "../../src";
import { JSON_SERVICE, type JsonServer } from "./json-service";

/** An HTTP request makes a gRPC call, which makes another call and opens a stream. */
const service = defineService({
  name: "traced",
  variables: { LISTEN: hostPort().default("127.0.0.1:0").describe("where it listens") },
  start: async ({ config, logger }) => {
    const handlers: JsonServer = {
      unary: unary(async (request) => {
        if (request !== "outer") return "inner";
        for await (const _message of client.stream("more"));
        return client.unary("inner");
      }),
      stream: serverStream(async function* () {
        yield await Promise.resolve(1);
      }),
      upload: () => undefined,
    };
    const grpc = await startGrpcServer({ listen: "127.0.0.1:0", services: [grpcService(JSON_SERVICE, handlers)], logger });
    const client = createGrpcClient<JsonServer>(JSON_SERVICE, { address: `127.0.0.1:${grpc.port}` });
    const http = await startHttpServer({
      listen: config.LISTEN,
      app: (_request, response) => void client.unary("outer").then((answer) => response.end(String(answer))),
    });
    process.send?.({ port: http.port });
    return {
      stop: async () => {
        await http.stop();
        client.close();
        await grpc.stop();
      },
    };
  },
});

void runProcess([service]);
