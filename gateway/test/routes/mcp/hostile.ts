import { modern, MODERN_VERSION } from "./rpc";

/** Messages that no client should send, with their errors. */

export interface Hostile {
  name: string;
  /** Message as JSON. `raw` is sent unchanged. */
  message?: unknown;
  raw?: string;
  headers?: Record<string, string>;
  path?: string;
  method?: string;
  /** Status of the whole response. */
  status: number;
  /** JSON-RPC error code, or the API's code in a tool's error. If both are absent, the response has no body. */
  rpc?: number;
  tool?: string;
}

const INVALID = -32_600;
const NO_METHOD = -32_601;
const BAD_PARAMS = -32_602;
const SERVER = -32_000;
const NOT_FOUND = -32_001;

const of = (method: unknown, params?: unknown, more: object = {}): object => ({
  jsonrpc: "2.0",
  id: 1,
  method,
  ...(params === undefined ? {} : { params }),
  ...more,
});
const call = (name: unknown, args?: unknown): object => of("tools/call", { name, ...(args === undefined ? {} : { arguments: args }) });
const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const UUID = "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11";

const ofWhole: Hostile[] = [
  { name: "no JSON", raw: "{", status: 400, rpc: INVALID },
  { name: "an empty body", raw: "", status: 400, rpc: INVALID },
  { name: "text", raw: '"hello"', status: 400, rpc: INVALID },
  { name: "a number", raw: "1", status: 400, rpc: INVALID },
  { name: "null", raw: "null", status: 400, rpc: INVALID },
  { name: "a batch", message: [of("ping"), of("tools/list")], status: 400, rpc: INVALID },
  { name: "an empty batch", message: [], status: 400, rpc: INVALID },
  { name: "a batch of a thousand calls", message: Array.from({ length: 1_000 }, () => call("run", {})), status: 400, rpc: INVALID },
  { name: "65 levels", raw: `{"jsonrpc":"2.0","id":1,"method":"ping","params":${deep(65)}}`, status: 400, rpc: INVALID },
  { name: "a million levels, without an end", raw: "[".repeat(1_000_000), status: 400, rpc: INVALID },
  {
    name: "too many values",
    raw: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${"0,".repeat(250_000)}0]}}`,
    status: 400,
    rpc: INVALID,
  },
  { name: "more bytes than a body may have", raw: `{"a":"${"x".repeat(11 * 1024 * 1024)}"}`, status: 413, rpc: SERVER },
  { name: "bytes that aren't UTF-8", raw: "\u{fffd}\ud800", status: 400, rpc: INVALID },
  { name: "another content type", raw: "{}", headers: { "content-type": "text/plain" }, status: 415, rpc: SERVER },
  { name: "an encoded body", raw: "{}", headers: { "content-encoding": "gzip" }, status: 415, rpc: SERVER },
  { name: "a page of another origin", message: of("tools/list"), headers: { origin: "https://evil.example" }, status: 403, rpc: SERVER },
  { name: "a page without an origin", message: of("tools/list"), headers: { origin: "null" }, status: 403, rpc: SERVER },
  { name: "a request across sites", message: of("tools/list"), headers: { "sec-fetch-site": "cross-site" }, status: 403, rpc: SERVER },
  { name: "no key", message: of("tools/list"), headers: { authorization: "" }, status: 401, rpc: SERVER },
  { name: "a wrong key", message: of("tools/list"), headers: { authorization: "Bearer nl_test_nothing" }, status: 401, rpc: SERVER },
  { name: "an unknown parameter", message: of("tools/list"), path: "/mcp?tools=all", status: 400, rpc: INVALID },
  { name: "a parameter that isn't a flag", message: of("tools/list"), path: "/mcp?models=maybe", status: 400, rpc: INVALID },
];

const ofSessions: Hostile[] = [
  { name: "an unknown session", message: of("tools/list"), headers: { "mcp-session-id": UUID }, status: 404, rpc: NOT_FOUND },
  {
    name: "a session with a wrong signature",
    message: of("tools/list"),
    headers: { "mcp-session-id": `${UUID}.${"A".repeat(43)}` },
    status: 404,
    rpc: NOT_FOUND,
  },
  { name: "a session of dots", message: of("tools/list"), headers: { "mcp-session-id": "..." }, status: 404, rpc: NOT_FOUND },
  {
    name: "an unsupported version in the header",
    message: of("tools/list"),
    headers: { "mcp-protocol-version": "1999-01-01" },
    status: 400,
    rpc: SERVER,
  },
  {
    name: "a version from 2026 without its envelope",
    message: of("tools/list"),
    headers: { "mcp-protocol-version": MODERN_VERSION },
    status: 400,
    rpc: BAD_PARAMS,
  },
  {
    name: "an envelope of another method than the header",
    message: modern("tools/list").message,
    headers: modern("ping").headers,
    status: 400,
    rpc: -32_020,
  },
  {
    name: "an envelope of an unknown version",
    message: of("tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } }),
    headers: { "mcp-protocol-version": "2099-01-01" },
    status: 400,
    rpc: BAD_PARAMS,
  },
  {
    name: "a subscription, of which there are none",
    message: modern("subscriptions/listen", { notifications: { toolsListChanged: true } }).message,
    headers: modern("subscriptions/listen").headers,
    status: 200,
    rpc: -32_603,
  },
];

const ofMessages: Hostile[] = [
  { name: "another JSON-RPC", message: { jsonrpc: "1.0", id: 1, method: "ping" }, status: 400, rpc: INVALID },
  { name: "no version of JSON-RPC", message: { id: 1, method: "ping" }, status: 400, rpc: INVALID },
  { name: "an id that is an object", message: { jsonrpc: "2.0", id: {}, method: "ping" }, status: 400, rpc: INVALID },
  { name: "an id that is true", message: { jsonrpc: "2.0", id: true, method: "ping" }, status: 400, rpc: INVALID },
  { name: "an id that is null", message: { jsonrpc: "2.0", id: null, method: "ping" }, status: 400, rpc: INVALID },
  { name: "a method that is a number", message: of(1), status: 400, rpc: INVALID },
  { name: "parameters that are a list", message: of("tools/list", []), status: 400, rpc: INVALID },
  { name: "an unknown method", message: of("tools/destroy"), status: 200, rpc: NO_METHOD },
  { name: "a method by the name of a member of objects", message: of("__proto__"), status: 200, rpc: NO_METHOD },
  {
    name: "a subscription to a resource",
    message: of("resources/subscribe", { uri: "nodeloom://schemas/graph" }),
    status: 200,
    rpc: NO_METHOD,
  },
  {
    name: "a resource that is another file",
    message: of("resources/read", { uri: "nodeloom://docs/../.env" }),
    status: 200,
    rpc: BAD_PARAMS,
  },
  { name: "a resource that is a number", message: of("resources/read", { uri: 7 }), status: 200, rpc: -32_603 },
  { name: "a page of resources that doesn't exist", message: of("resources/list", { cursor: "x" }), status: 200, rpc: BAD_PARAMS },
  { name: "an unknown prompt", message: of("prompts/get", { name: "constructor" }), status: 200, rpc: BAD_PARAMS },
  { name: "a prompt without its argument", message: of("prompts/get", { name: "fix_workflow" }), status: 200, rpc: BAD_PARAMS },
  { name: "a notification as a request", message: of("notifications/cancelled", { requestId: 7 }), status: 200, rpc: NO_METHOD },
  {
    name: "a request as a notification",
    message: { jsonrpc: "2.0", method: "tools/call", params: { name: "run", arguments: {} } },
    status: 202,
  },
  { name: "the answer to a question that was not asked", message: { jsonrpc: "2.0", id: 99, result: {} }, status: 202 },
  { name: "neither method nor result", message: { jsonrpc: "2.0", id: 1 }, status: 400, rpc: INVALID },
  { name: "a cancellation of nothing", message: { jsonrpc: "2.0", method: "notifications/cancelled" }, status: 202 },
  {
    name: "a cancellation by an id of a wrong type",
    message: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: { a: 1 } } },
    status: 202,
  },
  { name: "initialize without parameters", message: of("initialize"), status: 200, rpc: -32_603 },
];

const ofTools: Hostile[] = [
  { name: "a cursor that no list gave", message: of("tools/list", { cursor: "../../etc" }), status: 200, rpc: BAD_PARAMS },
  { name: "a cursor that is a number", message: of("tools/list", { cursor: 7 }), status: 400, rpc: INVALID },
  { name: "an unknown tool", message: call("no-such-tool", {}), status: 200, rpc: BAD_PARAMS },
  { name: "a tool by the name of a member of objects", message: call("constructor", {}), status: 200, rpc: BAD_PARAMS },
  { name: "a tool whose name isn't text", message: call({ a: 1 }, {}), status: 200, rpc: BAD_PARAMS },
  { name: "a name of a megabyte", message: call("x".repeat(1024 * 1024), {}), status: 200, rpc: BAD_PARAMS },
  { name: "arguments that are a list", message: call("get_workflow", []), status: 200, rpc: BAD_PARAMS },
  { name: "an argument of a wrong type", message: call("get_workflow", { slug: 7 }), status: 200, tool: "" },
  { name: "no arguments", message: call("run"), status: 200, tool: "INVALID_REQUEST" },
  { name: "two targets", message: call("run", { workflow: "a", model: "b", inputs: {} }), status: 200, tool: "INVALID_REQUEST" },
  { name: "an unknown argument", message: call("cancel", { executionId: UUID, force: true }), status: 200, tool: "INVALID_REQUEST" },
  {
    name: "inputs that aren't an object",
    message: call("quote", { model: "sandbox-image", inputs: "all" }),
    status: 200,
    tool: "INVALID_INPUTS",
  },
  {
    name: "more credits than there can be",
    message: call("run", { model: "sandbox-image", inputs: {}, maxCredits: 1e300 }),
    status: 200,
    tool: "INVALID_REQUEST",
  },
  {
    name: "a wait without an end",
    message: call("run", { model: "sandbox-image", inputs: {}, maxCredits: 1, waitSeconds: 1e9 }),
    status: 200,
    tool: "INVALID_REQUEST",
  },
  {
    name: "an execution's id that is none",
    message: call("get_execution", { executionId: "../../x" }),
    status: 200,
    tool: "EXECUTION_NOT_FOUND",
  },
  { name: "a slug that leads elsewhere", message: call("get_workflow", { slug: "../keys" }), status: 200, tool: "" },
  {
    name: "the switch that a person has",
    message: call("save_workflow", { name: "Mine", mcp: true }),
    status: 200,
    tool: "SESSION_REQUIRED",
  },
  {
    name: "a member of all objects as an argument",
    message: JSON.parse(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cancel","arguments":{"__proto__":{"a":1}}}}',
    ) as object,
    status: 200,
    tool: "INVALID_REQUEST",
  },
];

export const HOSTILE: readonly Hostile[] = [...ofWhole, ...ofSessions, ...ofMessages, ...ofTools];
