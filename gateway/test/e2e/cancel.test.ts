import { billing } from "@nodeloom/proto";
import { clientOf, eventually, type Account, type Answer } from "../../../test-support/client";
import { createGates, startGrpcGate, startHttpGate, type HeldRequest, type Passage, type Proxy } from "./support/gates";
import { edge, node } from "../../../test-support/graphs";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { createProviderLog, type ProviderCallKind } from "./support/provider-log";

/**
 * Cancellation in every state of a run that allows it, synchronous or asynchronous, on the real platform. Servers in front of billing,
 * media and the provider keep a run in its state, so that no test waits for time to pass.
 */

const HOLD = "/nodeloom.billing.v1.BillingService/Hold";
const SETTLE = "/nodeloom.billing.v1.BillingService/Settle";
const INGEST = "/nodeloom.media.v1.MediaService/Ingest";
const FILES = "/nodeloom.media.v1.MediaService/GetObjects";
const GRPC_HEADER_BYTES = 5;

/** Credits of the business plan. At its markup of 1.3: a second of video (0.05 USD), a song (0.03 USD). */
const [MONTH, VIDEO, SONG] = [10_000, 6.5, 3.9];
const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const gates = createGates();
const provider = createProviderLog();
const proxies: Proxy[] = [];
/** Hold requests to billing, which are the first trace of a run. */
const holds: billing.HoldRequest[] = [];
let platform: Platform;
let client: ReturnType<typeof clientOf>;
let origin: Recorder;

const decodeHold = ({ body }: Passage): billing.HoldRequest => billing.HoldRequest.decode(body.subarray(GRPC_HEADER_BYTES));

beforeAll(async () => {
  // Returns the ID in its path.
  origin = await startRecorder((response, { path }) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify({ id: path.slice(1) })),
  );
  const noting = {
    ...gates,
    pass: (passage: Passage, phase: "request" | "answer") => {
      if (passage.what === HOLD && phase === "request") holds.push(decodeHold(passage));
      return gates.pass(passage, phase);
    },
  };
  let own: Readonly<Record<string, string>> = {};
  const [money, storage, sandbox] = await Promise.all([
    startGrpcGate(() => own.BILLING_LISTEN!, noting),
    startGrpcGate(() => own.MEDIA_LISTEN!, gates),
    startHttpGate({ target: () => own.SANDBOX_LISTEN!, gates, instead: provider.instead, saw: provider.saw }),
  ]);
  proxies.push(money, storage, sandbox);
  platform = await startPlatform({
    allow: [origin.address, sandbox.address],
    env: (variables) => {
      own = variables;
      return { BILLING_ADDRESS: money.address, MEDIA_ADDRESS: storage.address, SANDBOX_URL: `http://${sandbox.address}` };
    },
  });
  client = clientOf(platform);
});
afterAll(async () => {
  await platform.stop();
  for (const proxy of proxies) proxy.stop();
  await origin.close();
});

type Mode = "sync" | "async";
const MODES: readonly Mode[] = ["sync", "async"];
type Graph = { nodes: unknown[]; edges: unknown[] };

/** One run to cancel, of a separate user. Its prompt identifies its requests. */
interface Cell {
  user: Account;
  prompt: string;
  poll(): Promise<Answer>;
}

/** Expected end and effects of a run that is cancelled in a state. */
interface Row {
  graph: Graph | ((cell: Cell) => Promise<Graph>);
  /** Requests that are held back before the run starts. */
  hold?: (cell: Cell) => HeldRequest;
  prepare?: (cell: Cell) => void;
  /** True if the run ends while the requests are held. They arrive afterwards. */
  endsHeld?: boolean;
  /** Resolves once the run is in the state. */
  reached: (cell: Cell, gate: HeldRequest | undefined) => Promise<unknown>;
  answer: "cancel_requested" | "already_completed" | "already_failed";
  status: "cancelled" | "completed" | "failed";
  /** Every node with its report. */
  nodes: Record<string, [status: string, report?: string]>;
  /** All calls that the provider received. */
  provider: Partial<Record<ProviderCallKind, number>>;
  /** Calls after the cancellation. A submission is never one of them. */
  after: ProviderCallKind[];
  held: number;
  captured: number;
  hasResult?: boolean;
}

const OUT = node("out", "response-output");
const prompted = (cell: Cell): object => ({ prompt: cell.prompt, seconds: 1 });
const clip =
  (sandbox: object) =>
  (cell: Cell): Promise<Graph> =>
    Promise.resolve({
      nodes: [node("clip", "generate-video", { model: "sandbox-video", inputs: { ...prompted(cell), sandbox } }), OUT],
      edges: [edge("clip.video", "out.videos")],
    });
const HANGS = clip({ fail: "hang" });
const AT_ONCE = clip({ latencyMs: 0 });
const FAILS = clip({ latencyMs: 0, fail: "job" });

/** A song, a server's result (the id of a picture), and a clip that starts with that picture. */
const inTurn = async (cell: Cell): Promise<Graph> => {
  const upload = await fetch(`${platform.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": cell.user.key!, "content-type": "image/png" },
    body: PIXEL,
  });
  const { id } = (await upload.json()) as { id: string };
  return {
    nodes: [
      node("song", "generate-audio", { model: "sandbox-music", inputs: { prompt: cell.prompt, sandbox: { latencyMs: 0 } } }),
      node("web", "http-request", { method: "POST", url: `${origin.url}/${id}`, extract: "/id" }),
      node("clip", "generate-video", { model: "sandbox-video", inputs: prompted(cell) }),
      OUT,
    ],
    edges: [edge("song.audio", "web.body"), edge("web.body", "clip.image"), edge("clip.video", "out.videos")],
  };
};
const fanOut = (cell: Cell): Promise<Graph> =>
  Promise.resolve({
    nodes: [
      node("speeds", "list", { items: [{ latencyMs: 0 }, { fail: "hang" }, { fail: "hang" }] }),
      node("clip", "generate-video", { model: "sandbox-video", inputs: prompted(cell) }),
      node("late", "text-box", { text: "{{clip}}" }),
      OUT,
    ],
    edges: [edge("speeds.items", "clip.sandbox"), edge("clip.video", "late.clip"), edge("clip.video", "out.videos")],
  });

/** Holds a call with the user of a cell. */
const calls =
  (what: string, phase?: "request" | "answer") =>
  ({ user }: Cell): HeldRequest =>
    gates.hold((passage) => passage.what === what && passage.body.includes(user.userId), phase);
const submission = ({ prompt }: Cell): HeldRequest =>
  gates.hold((passage) => provider.kindOf(passage.what) === "submit" && provider.senderOf(passage) === prompt);
const isHeld = (_: Cell, gate: HeldRequest | undefined): Promise<unknown> => gate!.reached;
const isOver = ({ poll }: Cell): Promise<Answer> => eventually(poll, isFinal);
const isFinal = ({ body }: Answer): boolean => ["completed", "failed", "cancelled"].includes(body.status as string);
/** Sets the provider's response to one kind of a cell's calls. */
const answering =
  (kind: ProviderCallKind, status: number, headers: Record<string, string> = {}) =>
  ({ prompt }: Cell): void =>
    provider.answer(prompt, kind, { status, headers });
const itemIsDone = ({ poll }: Cell): Promise<Answer> =>
  eventually(poll, ({ body }) => (body.nodes as { itemsDone?: number }[] | undefined)?.some(({ itemsDone }) => itemsDone === 1) ?? false);

const ROWS: Record<string, Row> = {
  "waiting for a busy provider": {
    graph: HANGS,
    prepare: answering("submit", 429, { "retry-after": "60" }),
    reached: ({ prompt }) => provider.until(prompt, "submit"),
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { clip: ["cancelled", "stopped"], out: ["skipped"] },
    provider: { submit: 1 },
    after: [],
    held: VIDEO,
    // The provider rejected the call.
    captured: 0,
  },
  "while it is submitted": {
    graph: HANGS,
    hold: submission,
    reached: isHeld,
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { clip: ["cancelled", "provider_told"], out: ["skipped"] },
    provider: { submit: 1, cancel: 1 },
    after: ["poll", "cancel"],
    held: VIDEO,
    captured: VIDEO,
  },
  "while it is submitted, and the answer is lost": {
    graph: HANGS,
    prepare: ({ prompt }) => provider.answer(prompt, "submit", "lost"),
    hold: submission,
    reached: isHeld,
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { clip: ["cancelled", "could_not_stop"], out: ["skipped"] },
    provider: { submit: 1, cancel: 0 },
    after: [],
    held: VIDEO,
    captured: VIDEO,
  },
  polling: {
    graph: HANGS,
    reached: ({ prompt }) => provider.until(prompt, "poll"),
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { clip: ["cancelled", "provider_told"], out: ["skipped"] },
    provider: { submit: 1, cancel: 1 },
    after: ["poll", "cancel"],
    held: VIDEO,
    captured: VIDEO,
  },
  "polling a provider that does not stop": {
    graph: HANGS,
    prepare: answering("cancel", 409),
    reached: ({ prompt }) => provider.until(prompt, "poll"),
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { clip: ["cancelled", "could_not_stop"], out: ["skipped"] },
    provider: { submit: 1, cancel: 1 },
    after: ["poll", "cancel"],
    held: VIDEO,
    captured: VIDEO,
  },
  "between nodes": {
    graph: inTurn,
    hold: calls(FILES),
    reached: isHeld,
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { song: ["completed"], web: ["completed"], clip: ["cancelled", "stopped"], out: ["skipped"] },
    provider: { submit: 1, cancel: 0 },
    after: [],
    // The server's unknown result counts as one item. The clip was never submitted.
    held: SONG + VIDEO,
    captured: SONG,
  },
  "with half of a fan-out done": {
    graph: fanOut,
    reached: itemIsDone,
    answer: "cancel_requested",
    status: "cancelled",
    nodes: { speeds: ["completed"], clip: ["cancelled", "provider_told"], late: ["skipped"], out: ["skipped"] },
    provider: { submit: 3, cancel: 2 },
    after: ["poll", "cancel"],
    held: 3 * VIDEO,
    captured: 3 * VIDEO,
  },
  "while its media are stored": {
    graph: AT_ONCE,
    hold: calls(INGEST),
    reached: isHeld,
    answer: "cancel_requested",
    status: "cancelled",
    // Results that the provider completed are kept.
    nodes: { clip: ["completed", "stopped"], out: ["completed"] },
    provider: { submit: 1, cancel: 0, file: 1 },
    after: ["poll", "file"],
    held: VIDEO,
    captured: VIDEO,
    hasResult: true,
  },
  "while it settles": {
    graph: AT_ONCE,
    hold: calls(SETTLE),
    reached: isHeld,
    answer: "already_completed",
    status: "completed",
    nodes: { clip: ["completed"], out: ["completed"] },
    provider: { submit: 1, cancel: 0, file: 1 },
    after: [],
    held: VIDEO,
    captured: VIDEO,
    hasResult: true,
  },
  "while its failure settles": {
    graph: FAILS,
    hold: calls(SETTLE),
    reached: isHeld,
    answer: "already_failed",
    status: "failed",
    nodes: { clip: ["failed"], out: ["skipped"] },
    provider: { submit: 1, cancel: 0 },
    after: [],
    held: VIDEO,
    captured: 0,
  },
  "after its end": {
    graph: AT_ONCE,
    reached: isOver,
    answer: "already_completed",
    status: "completed",
    nodes: { clip: ["completed"], out: ["completed"] },
    provider: { submit: 1, cancel: 0, file: 1 },
    after: [],
    held: VIDEO,
    captured: VIDEO,
    hasResult: true,
  },
};

/** Calls that a provider received before the run was final. No later call may follow. */
const atTheEnd = new Map<string, readonly ProviderCallKind[]>();

const holdOf = async ({ user }: Cell): Promise<billing.HoldRequest> =>
  (await eventually(
    () => Promise.resolve(holds.find(({ userId }) => userId === user.userId)),
    (row) => row !== undefined,
  ))!;

/** Response to a client that waits for the run. */
const expectCaller = ({ status, body }: Answer, mode: Mode, row: Row, executionId: string): void => {
  if (mode === "async") return expect({ status, body }).toMatchObject({ status: 202, body: { executionId } });
  if (row.status === "completed") return expect({ status, body }).toMatchObject({ status: 200, body: { cost: row.captured } });
  const expectedReply =
    row.status === "cancelled"
      ? { status: 409, body: { code: "EXECUTION_CANCELLED", error: "the run was cancelled" } }
      : { status: 500, body: { code: "EXECUTION_FAILED", error: expect.any(String) as string } };
  expect({ status, body }).toMatchObject({ ...expectedReply, body: { ...expectedReply.body, executionId } });
};

const expectMoney = async ({ user }: Cell, row: Row, executionId: string): Promise<void> => {
  const { body: me } = await client.call("GET", "/api/me", { cookie: user.cookie });
  expect(me.credits).toMatchObject({ plan: MONTH - row.captured, held: 0 });
  const { body } = await client.asAdmin("GET", `/api/admin/users/${user.userId}/ledger`);
  const movements = (body.rows as { kind: string; credits: number; moved: number; executionId: string | null }[])
    .filter((one) => one.executionId === executionId)
    .map(({ kind, credits, moved }) => [kind, credits, moved]);
  const released = row.held - row.captured;
  expect(movements.reverse()).toEqual([
    ...(row.held > 0 ? [["hold", 0, row.held]] : []),
    ...(row.captured > 0 ? [["capture", -row.captured, 0]] : []),
    ...(released > 0 ? [["release", 0, released]] : []),
  ]);
  // Usage can receive a run's end shortly after the caller.
  const { body: usage } = await eventually(
    () => client.call("GET", "/api/usage", { key: user.key }),
    ({ body: listed }) => (listed.rows as { status: string }[])[0]?.status !== "processing",
  );
  expect(usage).toMatchObject({ total: 1, rows: [{ status: row.status, creditsCost: row.captured }] });
};

const expectRun = async ({ body }: Answer, cell: Cell, row: Row): Promise<void> => {
  const nodes = body.nodes as { id: string; status: string; cancelReport?: string; outputs?: object }[];
  expect(body.status).toBe(row.status);
  expect(Object.fromEntries(nodes.map(({ id, status, cancelReport }) => [id, cancelReport ? [status, cancelReport] : [status]]))).toEqual(
    row.nodes,
  );
  expect(body.result !== undefined).toBe(row.hasResult ?? false);
  for (const { id, status, outputs } of nodes)
    if (id === "clip" && status === "completed")
      expect(outputs).toMatchObject({ video: [{ contentType: expect.stringContaining("video/") as string }] });
  expect(body.creditsCost).toBe(row.captured);
  const events = await client.call("GET", `/api/executions/${body.executionId as string}/events`, { key: cell.user.key });
  const types = [...events.text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type!);
  expect([types[0], types.at(-1)]).toEqual(["admitted", "settled"]);
  expect(types.filter((type) => type === "cancel_requested")).toHaveLength(row.status === "cancelled" ? 1 : 0);
  expect(types.filter((type) => /^node\.(completed|failed|cancelled|skipped)$/.test(type))).toHaveLength(nodes.length);
};

const cancelIn = async (name: string, row: Row, mode: Mode): Promise<void> => {
  const user = await client.account();
  let executionId = "";
  const cell: Cell = {
    user,
    prompt: cellOf(name, mode),
    poll: () => client.call("GET", `/api/executions/${executionId}`, { key: user.key }),
  };
  const cancel = (): Promise<Answer> => client.call("POST", `/api/executions/${executionId}/cancel`, { key: user.key });
  const graph = await (row.graph as (cell: Cell) => Promise<Graph>)(cell);
  const saved = await client.call("POST", "/api/workflows", { key: user.key, body: { name: "Cancelled", ...graph } });
  expect(saved.status).toBe(201);
  row.prepare?.(cell);
  const gate = row.hold?.(cell);
  const path = `/api/workflows/${(saved.body as { slug?: string }).slug!}/run${mode === "async" ? "?async=true" : ""}`;
  const caller = client.call("POST", path, { key: user.key, body: { inputs: {} } });
  try {
    // Billing's id of a run includes the attempt.
    executionId = (await holdOf(cell)).executionId.replace(/\.\d+$/, "");
    await row.reached(cell, gate);
    const before = provider.of(cell.prompt).length;
    expect(await cancel()).toMatchObject({ status: 200, body: { status: row.answer } });
    // A second request changes nothing.
    expect((await cancel()).body.status).toMatch(row.answer === "cancel_requested" ? /^(cancel_requested|already_cancelled)$/ : row.answer);
    if (row.endsHeld) await isOver(cell);
    gate?.release();
    if (row.endsHeld) await gate?.answered;
    const final = await isOver(cell);
    const seenCalls = provider.of(cell.prompt);
    atTheEnd.set(cell.prompt, seenCalls);
    expect(seenCalls.slice(before).filter((kind) => !row.after.includes(kind))).toEqual([]);
    for (const [kind, count] of Object.entries({ submit: 0, cancel: 0, ...row.provider }))
      expect([kind, provider.count(cell.prompt, kind as ProviderCallKind)]).toEqual([kind, count]);
    if (row.provider.cancel) expect(seenCalls.at(-1)).toBe("cancel");
    await expectRun(final, cell, row);
    expectCaller(await caller, mode, row, executionId);
    await expectMoney(cell, row, executionId);
    expect((await cancel()).body).toEqual({ status: `already_${row.status}` });
  } finally {
    gate?.release();
    await caller;
  }
};

/** Cells run in parallel, so a check of one must not depend on the others. */
const AT_ONCE_ROWS = 3;
const cells = new Map<string, Promise<void>>();
const cellOf = (name: string, mode: Mode): string => `${name}, ${mode}`;

beforeAll(() => {
  const rows = Object.entries(ROWS);
  const turns: Promise<unknown>[] = Array.from({ length: AT_ONCE_ROWS }, () => Promise.resolve());
  rows.forEach(([name, row], index) => {
    const turn = turns[index % AT_ONCE_ROWS]!;
    const both = MODES.map((mode) => {
      const cell = turn.then(() => cancelIn(name, row, mode));
      cells.set(cellOf(name, mode), cell);
      return cell;
    });
    turns[index % AT_ONCE_ROWS] = Promise.allSettled(both);
  });
});

describe.each(Object.keys(ROWS))("a run that is cancelled %s", (name) => {
  it.each(MODES)("%s", (mode) => cells.get(cellOf(name, mode)));
});

describe("after all of them", () => {
  it("no provider was called for an ended run", () => {
    expect(atTheEnd.size).toBe(Object.keys(ROWS).length * MODES.length);
    for (const [prompt, seenCalls] of atTheEnd) expect([prompt, provider.of(prompt)]).toEqual([prompt, seenCalls]);
  });

  it("the ledger balances", async () => {
    const { body } = await client.asAdmin("GET", "/api/admin/ledger/check");
    expect(body).toMatchObject({ ok: true, mismatches: [], staleHolds: [] });
  });
});
