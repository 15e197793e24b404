import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, constants, createServer as createHttp2Server, type ClientHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";

/**
 * Servers in front of the platform's own. They forward every request unless a test holds it. So events can bring a run into a state and
 * keep it there as long as the test needs.
 */

/** A request that a gate forwards. `body` is complete. */
export interface Passage {
  /** Path of a gRPC method, or HTTP method and path. */
  what: string;
  body: Buffer;
}

export interface HeldRequest {
  /** Resolves once a matching request has arrived. */
  reached: Promise<Passage>;
  /** Lets this and all matching requests continue. */
  release(): void;
  /** Resolves once the request has been answered, even if its caller no longer waits. */
  answered: Promise<unknown>;
}

type Matches = (passage: Passage) => boolean;
type Phase = "request" | "answer";
interface Waiting {
  matches: Matches;
  phase: Phase;
  reach: (passage: Passage) => void;
  answer: (passage: Passage) => void;
  open: Promise<void>;
}

export type Gates = ReturnType<typeof createGates>;

export const createGates = () => {
  const heldCalls = new Set<Waiting>();
  return {
    /** Holds requests or their responses. */
    hold: (matches: Matches, phase: Phase = "request"): HeldRequest => {
      let reach: Waiting["reach"] = () => undefined;
      let release = (): void => undefined;
      const reached = new Promise<Passage>((resolve) => (reach = resolve));
      const open = new Promise<void>((resolve) => (release = resolve));
      let answer: Waiting["answer"] = () => undefined;
      const answered = new Promise((resolve) => (answer = resolve));
      const waiting: Waiting = { matches, phase, reach, answer, open };
      heldCalls.add(waiting);
      return {
        reached,
        release,
        answered,
      };
    },
    /** Resolves once a request can continue. */
    pass: async (passage: Passage, phase: Phase): Promise<void> => {
      const concerned = [...heldCalls].filter((one) => one.matches(passage));
      const stopping = concerned.filter((one) => one.phase === phase);
      for (const { reach } of stopping) reach(passage);
      await Promise.all(stopping.map(({ open }) => open));
      if (phase === "answer") for (const { answer } of concerned) answer(passage);
    },
  };
};

const whole = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

export interface Proxy {
  /** host:port */
  address: string;
  stop(): void;
}

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

/** Forwards a held gRPC call. Like the real server, it also delivers calls that the caller has cancelled. */
const forwardCall = (incoming: ServerHttp2Stream, headers: Record<string, unknown>, body: Buffer, session: ClientHttp2Session) =>
  new Promise<{ answer: Buffer; respond: () => void }>((resolve, reject) => {
    const upstream = session.request(headers as never);
    let head: Record<string, unknown> = {};
    let trailers: Record<string, unknown> | undefined;
    upstream.on("response", (frame) => (head = frame));
    upstream.on("trailers", (frame) => (trailers = frame));
    upstream.on("error", reject);
    whole(upstream).then((answer) => {
      const respond = (): void => {
        if (incoming.destroyed) return;
        incoming.respond(head as never, trailers ? { waitForTrailers: true } : { endStream: true });
        if (!trailers) return;
        incoming.on("wantTrailers", () => incoming.sendTrailers(trailers as never));
        incoming.end(answer);
      };
      resolve({ answer, respond });
    }, reject);
    upstream.end(body);
  });

/** Starts a gate in front of a gRPC server. */
export const startGrpcGate = async (target: () => string, gates: Gates): Promise<Proxy> => {
  let session: ClientHttp2Session | undefined;
  const upstream = (): ClientHttp2Session => {
    if (!session || session.closed || session.destroyed) session = connect(`http://${target()}`).on("error", () => undefined);
    return session;
  };
  const sockets = new Set<Socket>();
  const server = createHttp2Server();
  server.on("connection", (socket: Socket) => void sockets.add(socket.once("close", () => sockets.delete(socket))));
  server.on("stream", (incoming, headers) => {
    incoming.on("error", () => undefined);
    const relay = async (): Promise<void> => {
      const passage = { what: String(headers[constants.HTTP2_HEADER_PATH]), body: await whole(incoming) };
      await gates.pass(passage, "request");
      const { respond } = await forwardCall(
        incoming,
        { ...headers, [constants.HTTP2_HEADER_AUTHORITY]: target() },
        passage.body,
        upstream(),
      );
      await gates.pass(passage, "answer");
      respond();
    };
    relay().catch(() => incoming.close(constants.NGHTTP2_CANCEL));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${portOf(server)}`,
    stop: () => {
      session?.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

/** Replaces the server's response. `lost`: the server handles the request, but its response doesn't arrive. */
export type Instead = Reply | "lost";
interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: object;
}

export interface HttpGateOptions {
  target: () => string;
  gates: Gates;
  /** Returns a response in place of the server's; if it returns undefined, the server is called. */
  instead: (passage: Passage) => Instead | undefined;
  /** Called with every request, and then with the server's response. */
  saw: (passage: Passage) => (answer: Buffer) => void;
}

/** Starts a gate in front of an HTTP server. It keeps the Host header, so that addresses in responses lead through it again. */
export const startHttpGate = async ({ target, gates, instead, saw }: HttpGateOptions): Promise<Proxy> => {
  const relay = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const passage = { what: `${incoming.method} ${incoming.url}`, body: await whole(incoming) };
    const answered = saw(passage);
    await gates.pass(passage, "request");
    const reply = instead(passage);
    if (reply && reply !== "lost") {
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(JSON.stringify(reply.body ?? {}));
      return;
    }
    const [host, port] = target().split(":");
    const upstream = httpRequest({ host, port, method: incoming.method, path: incoming.url, headers: incoming.headers });
    upstream.end(passage.body);
    const [answer] = (await once(upstream, "response")) as [IncomingMessage];
    const body = await whole(answer);
    answered(body);
    await gates.pass(passage, "answer");
    if (reply === "lost") return void response.destroy();
    response.writeHead(answer.statusCode!, answer.headers).end(body);
  };
  const server = createHttpServer((incoming, response) => {
    relay(incoming, response).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${portOf(server)}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
