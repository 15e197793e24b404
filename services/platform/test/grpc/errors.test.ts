import { Metadata, Server, ServerCredentials, status, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { DomainError, ERROR_KINDS, REASONS, type ErrorMetadata, type Issue } from "@nodeloom/kernel";
import { createGrpcClient, serverStream, clientStream, unary, type Logger } from "../../src";
import { JSON_SERVICE, startJsonService, type JsonServer, type RunningJsonService } from "../support/json-service";

/** Error of the service's next call. */
let raised: unknown;
let logged: { err: unknown; path: string }[] = [];
const logger = { error: (entry: { err: unknown; path: string }) => logged.push(entry) } as unknown as Logger;
let service: RunningJsonService;

beforeAll(async () => {
  service = await startJsonService(
    {
      unary: unary(() => Promise.reject(raised as Error)),
      stream: serverStream(async function* () {
        await Promise.resolve();
        throw raised;
      }),
      upload: clientStream(
        async (requests) => {
          for await (const request of requests) if (request === "fail") throw raised;
          return "read";
        },
        (message) => message === "end",
      ),
    },
    { logger },
  );
});
afterAll(() => service.stop());
beforeEach(() => (logged = []));

const failureOf = async (call: () => Promise<unknown>): Promise<DomainError> => {
  const error = await call().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DomainError);
  return error as DomainError;
};

const first = async (messages: AsyncIterable<unknown>): Promise<unknown> => {
  for await (const message of messages) return message;
  return undefined;
};

const CALLS: [string, () => Promise<unknown>][] = [
  ["a unary call", () => service.client.unary({})],
  ["a stream", () => first(service.client.stream({}))],
  ["an upload", () => service.client.upload(["fail"])],
];

describe("a DomainError reaches the caller", () => {
  it.each(ERROR_KINDS.map((kind, index) => [kind, REASONS[index]!] as const))("with its kind %s", async (kind, reason) => {
    raised = new DomainError(kind, reason, `a message about ${kind}`, { kind });
    for (const [, call] of CALLS) {
      const { name, message, metadata, ...error } = await failureOf(call);
      expect({ ...error, name, message, metadata }).toMatchObject({ kind, reason, message: `a message about ${kind}`, metadata: { kind } });
    }
    expect(logged).toEqual([]);
  });

  it.each([
    ["half of a surrogate pair", "inputs.\ud800: is not known", "inputs.\ufffd: is not known"],
    ["a pair where it is cut", "🧵".repeat(1_500), `${"🧵".repeat(999)}\ufffd…`],
  ])("with a message that has %s", async (_name, message, arrives) => {
    raised = new DomainError("invalid", "INVALID_INPUTS", message, { issues: [{ path: "inputs.\ud800", message }] });
    for (const [, call] of CALLS) expect(await failureOf(call)).toMatchObject({ reason: "INVALID_INPUTS", message: arrives });
  });

  it.each(REASONS)("with its reason %s", async (reason) => {
    raised = new DomainError("failed", reason, "why");
    expect(await failureOf(CALLS[0]![1])).toMatchObject({ reason, metadata: {} });
  });

  it.each<[string, ErrorMetadata]>([
    ["nothing", {}],
    ["null and empty values", { nothing: null, text: "", list: [], object: {} }],
    ["numbers and booleans", { whole: 12, broken: -0.25, large: 9_007_199_254_740_991, yes: true, no: false }],
    ["nested values", { issues: [{ path: "a.b[0]", message: "must be a number", at: { deep: [[1], [2, [3]]] } }] }],
    ["text of every kind", { "ключ 键": 'línea\nnueva\u0000 \u2028 🧵 "quoted" \\ %25', emoji: "👩‍👩‍👧" }],
    ["keys that objects have already", { constructor: 1, toString: "text", hasOwnProperty: null }],
  ])("with metadata of %s", async (_name, metadata) => {
    raised = new DomainError("invalid", "INVALID_REQUEST", "why", metadata);
    expect((await failureOf(CALLS[0]![1])).metadata).toEqual(metadata);
  });

  it("with a message of any characters", async () => {
    const message = 'línea\nnueva 🧵 100% \u0007 "quoted"';
    raised = new DomainError("invalid", "INVALID_REQUEST", message);
    expect((await failureOf(CALLS[0]![1])).message).toBe(message);
  });

  it("with values that JSON doesn't have as null", async () => {
    raised = new DomainError("invalid", "INVALID_REQUEST", "why", { missing: undefined, date: new Date(0), nothing: Number.NaN });
    expect((await failureOf(CALLS[0]![1])).metadata).toEqual({ missing: null, date: "1970-01-01T00:00:00.000Z", nothing: null });
  });

  it("with any number of issues: the first ones arrive", async () => {
    const issues = Array.from({ length: 5_000 }, (_, index): Issue => ({ path: `nodes[${index}]`, message: `problem ${Math.random()} ☂` }));
    raised = new DomainError("invalid", "WORKFLOW_INVALID", issues.map(({ message }) => message).join("; "), { issues, count: 5_000 });
    const { reason, message, metadata } = await failureOf(() => service.client.unary({}, { deadlineMs: 30_000 }));
    expect(reason).toBe("WORKFLOW_INVALID");
    const arrived = metadata.issues as Issue[];
    expect(arrived.length).toBeGreaterThan(300);
    expect(arrived).toEqual(issues.slice(0, arrived.length));
    expect(message.length).toBe(2_000);
  });

  it("without a value that is too long to send", async () => {
    raised = new DomainError("failed", "EXECUTION_FAILED", "why", { body: "x".repeat(1_000_000), nodeId: "n1" });
    expect((await failureOf(CALLS[0]![1])).metadata).toEqual({ nodeId: "n1" });
  });
});

describe("an unexpected error", () => {
  it.each(CALLS)("of %s is INTERNAL, reveals nothing, and is logged", async (_name, call) => {
    raised = Object.assign(new Error("password of mongodb://root:hunter2@db"), { code: 121, secret: "hunter2" });
    const error = await failureOf(call);
    expect(error).toMatchObject({ kind: "internal", reason: "INTERNAL", message: "internal error", metadata: {} });
    expect(JSON.stringify({ ...error, text: String(error) })).not.toContain("hunter2");
    expect(logged).toEqual([{ err: raised, path: expect.stringContaining("/nodeloom.billing.v1.BillingService/") as string }]);
  });

  it("thrown before a promise exists is also INTERNAL", async () => {
    const hasty = await startJsonService(
      {
        unary: unary(() => {
          throw new Error("at once");
        }),
      },
      { logger },
    );
    expect(await failureOf(() => hasty.client.unary({}))).toMatchObject({ reason: "INTERNAL", message: "internal error" });
    expect(logged).toHaveLength(1);
    await hasty.stop();
  });

  it.each([undefined, null, "text", 7])("of %j is INTERNAL", async (value) => {
    raised = value;
    expect(await failureOf(CALLS[0]![1])).toMatchObject({ reason: "INTERNAL" });
  });

  it("about an unavailable database is SERVICE_UNAVAILABLE, and expected", async () => {
    raised = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:27017"), { name: "MongoServerSelectionError" });
    expect(await failureOf(CALLS[0]![1])).toMatchObject({
      kind: "unavailable",
      reason: "SERVICE_UNAVAILABLE",
      message: "the database is away",
    });
    expect(logged).toEqual([]);
  });
});

describe("an error from outside of the platform", () => {
  const raise = async (code: status, details?: Buffer): Promise<DomainError> => {
    const server = new Server();
    const metadata = new Metadata();
    if (details) metadata.set("grpc-status-details-bin", details);
    server.addService(JSON_SERVICE, {
      unary: (_call: unknown, callback: (error: object) => void) => callback({ code, details: "private detail", metadata }),
    } as unknown as UntypedServiceImplementation);
    const port = await new Promise<number>((resolve) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, bound) => resolve(bound)),
    );
    const client = createGrpcClient<JsonServer>(JSON_SERVICE, { address: `127.0.0.1:${port}` });
    try {
      return await failureOf(() => client.unary({}));
    } finally {
      client.close();
      server.forceShutdown();
    }
  };

  it.each([
    [status.UNAVAILABLE, "SERVICE_UNAVAILABLE"],
    [status.DEADLINE_EXCEEDED, "SERVICE_UNAVAILABLE"],
    [status.UNIMPLEMENTED, "INTERNAL"],
    [status.UNKNOWN, "INTERNAL"],
    [status.DATA_LOSS, "INTERNAL"],
  ])("of status %i is %s, without its text", async (code, reason) => {
    const error = await raise(code);
    expect(error.reason).toBe(reason);
    expect(error.message).not.toContain("private");
  });

  it.each([
    ["no protocol buffer", Buffer.from([255, 255, 255, 255])],
    ["cut off", Buffer.from([0x1a, 0x50, 0x0a])],
    ["empty", Buffer.alloc(0)],
    // google.rpc.Status with an ErrorInfo whose metadata isn't JSON.
    [
      "not ours",
      (() => {
        const field = (number: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
        const entry = Buffer.concat([field(1, Buffer.from("key")), field(2, Buffer.from("no json"))]);
        const info = Buffer.concat([field(1, Buffer.from("INTERNAL")), field(3, entry)]);
        return field(3, Buffer.concat([field(1, Buffer.from("type.googleapis.com/google.rpc.ErrorInfo")), field(2, info)]));
      })(),
    ],
  ])("with details that are %s is INTERNAL", async (_name, details) => {
    expect(await raise(status.INVALID_ARGUMENT, details)).toMatchObject({ kind: "internal", reason: "INTERNAL" });
  });
});
