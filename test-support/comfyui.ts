import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/**
 * A fake ComfyUI server modelled on its `server.py` and `execution.py`: one prompt runs at a time, others wait, and ended ones are in the
 * history. Tests end prompts. ComfyUI itself isn't in a package registry.
 */

type Workflow = Record<string, { class_type: string; inputs: Record<string, unknown> }>;
interface Prompt {
  id: string;
  workflow: Workflow;
  extra: unknown;
}
type JobEnd = { outputs?: object; messages?: [string, object][]; status_str?: string };

export interface ComfyUi {
  address: string;
  running: Prompt | undefined;
  pending: Prompt[];
  history: Map<string, object>;
  /** Uploaded files by name, and files of `/view` by its query. */
  files: Map<string, Buffer>;
  /** Requests in order. */
  requests: string[];
  /** Ends the running prompt. */
  end(how: JobEnd): void;
  /** Loses all state, as after a restart. */
  forget(): void;
  /** Listeners of `/ws` by client id. A new one replaces the old one. */
  sockets: Map<string, Duplex>;
  /** Sends a text or bytes to the client of the running prompt. */
  send(message: object | Buffer): void;
  /** Sends a preview image: 1 for JPEG, 2 for PNG. */
  sendPreview(format: number, image: Buffer): void;
  /** True if `/interrupt` ignores `prompt_id`. */
  isOld: boolean;
  stop(): Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
const reply = (response: ServerResponse, status: number, body?: unknown): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(body === undefined ? "" : JSON.stringify(body));

const partOf = (form: Buffer, name: string): { filename: string; bytes: Buffer } | undefined => {
  const text = form.toString("latin1");
  const match = new RegExp(`name="${name}"(?:; filename="([^"]*)")?[^]*?\\r\\n\\r\\n([^]*?)\\r\\n--`).exec(text);
  return match ? { filename: match[1] ?? "", bytes: Buffer.from(match[2]!, "latin1") } : undefined;
};

const WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const [TEXT, BINARY, CLOSE] = [1, 2, 8];
const frameOf = (opcode: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  header[0] = 0x80 | opcode;
  header[1] = header.length === 2 ? payload.length : header.length === 4 ? 126 : 127;
  if (header.length === 4) header.writeUInt16BE(payload.length, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([header, payload]);
};

const itemOf = ({ id, workflow, extra }: Prompt): unknown[] => [0, id, workflow, extra, ["9"]];

export const startComfyUi = async (): Promise<ComfyUi> => {
  let count = 0;
  const comfy: ComfyUi = {
    address: "",
    running: undefined,
    pending: [],
    history: new Map(),
    files: new Map(),
    requests: [],
    sockets: new Map(),
    isOld: false,
    send: (message) => {
      const { client_id: client } = comfy.running!.extra as { client_id: string };
      comfy.sockets
        .get(client)
        ?.write(Buffer.isBuffer(message) ? frameOf(BINARY, message) : frameOf(TEXT, Buffer.from(JSON.stringify(message))));
    },
    sendPreview: (format, image) => {
      const header = Buffer.alloc(8);
      header.writeUInt32BE(1, 0);
      header.writeUInt32BE(format, 4);
      comfy.send(Buffer.concat([header, image]));
    },
    end: ({ outputs = {}, messages = [], status_str = "success" }) => {
      const prompt = comfy.running!;
      comfy.history.set(prompt.id, {
        prompt: itemOf(prompt),
        outputs,
        status: { status_str, completed: status_str === "success", messages },
      });
      comfy.running = comfy.pending.shift();
    },
    forget: () => {
      [comfy.running, comfy.pending] = [undefined, []];
      comfy.history.clear();
    },
    stop: async () => {
      for (const socket of comfy.sockets.values()) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const interrupt = (): void => comfy.end({ status_str: "error", messages: [["execution_interrupted", { node_id: "3" }]] });

  const post = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    if (path === "/upload/image") {
      const file = partOf(body, "image");
      const folder = partOf(body, "subfolder")?.bytes.toString() ?? "";
      if (!file) return reply(response, 400);
      comfy.files.set(`${folder}/${file.filename}`, file.bytes);
      return reply(response, 200, { name: file.filename, subfolder: folder, type: "input" });
    }
    const message = JSON.parse(body.toString()) as Record<string, unknown>;
    if (path === "/prompt") {
      const workflow = message.prompt as Workflow | undefined;
      if (!workflow) return reply(response, 400, { error: "no prompt", node_errors: [] });
      const wrong = Object.entries(workflow).find(([, node]) => node.inputs.steps === 0);
      const error = { type: "prompt_outputs_failed_validation", message: "Prompt outputs failed validation", details: "", extra_info: {} };
      if (wrong) {
        const errors = [{ type: "value_smaller_than_min", message: "Value 0 smaller than min of 1", details: "steps" }];
        return reply(response, 400, { error, node_errors: { [wrong[0]]: { errors, class_type: wrong[1].class_type } } });
      }
      const prompt = { id: `p${++count}`, workflow, extra: { ...(message.extra_data as object), client_id: message.client_id } };
      if (comfy.running) comfy.pending.push(prompt);
      else comfy.running = prompt;
      return reply(response, 200, { prompt_id: prompt.id, number: count, node_errors: {} });
    }
    if (path === "/queue") {
      const deletedIds = (message.delete ?? []) as string[];
      comfy.pending = comfy.pending.filter(({ id }) => !deletedIds.includes(id));
      return reply(response, 200);
    }
    if (path !== "/interrupt") return reply(response, 404);
    if (comfy.running && (comfy.isOld || message.prompt_id === undefined || message.prompt_id === comfy.running.id)) interrupt();
    return reply(response, 200);
  };

  const get = (path: string, query: string, response: ServerResponse): void => {
    if (path === "/queue")
      return reply(response, 200, {
        queue_running: comfy.running ? [itemOf(comfy.running)] : [],
        queue_pending: comfy.pending.map(itemOf),
      });
    if (path === "/history") return reply(response, 200, Object.fromEntries(comfy.history));
    if (path.startsWith("/history/")) {
      const id = decodeURIComponent(path.slice("/history/".length));
      return reply(response, 200, comfy.history.has(id) ? { [id]: comfy.history.get(id) } : {});
    }
    if (path === "/system_stats") return reply(response, 200, { system: { comfyui_version: "0.9.2" }, devices: [] });
    const file = path === "/view" ? comfy.files.get(query) : undefined;
    if (!file) return reply(response, 404);
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(file);
  };

  const server = createServer((request, response) => {
    const [path = "", query = ""] = (request.url ?? "").split("?");
    comfy.requests.push(`${request.method} ${path}`);
    if (request.method === "POST") void post(path, request, response);
    else get(path, query, response);
  });
  server.on("upgrade", (request, socket) => {
    const url = new URL(request.url ?? "", "http://comfy");
    comfy.requests.push(`WS ${url.pathname}`);
    if (url.pathname !== "/ws" || comfy.isOld) return void socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${WEBSOCKET_GUID}`).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const client = url.searchParams.get("clientId") ?? "";
    comfy.sockets.set(client, socket);
    socket.on("data", (frame: Buffer) => (frame[0]! & 0x0f) === CLOSE && socket.end(frameOf(CLOSE, Buffer.alloc(0))));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => comfy.sockets.get(client) === socket && comfy.sockets.delete(client));
    socket.write(
      frameOf(TEXT, Buffer.from(JSON.stringify({ type: "status", data: { sid: client, status: { exec_info: { queue_remaining: 1 } } } }))),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  comfy.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return comfy;
};
