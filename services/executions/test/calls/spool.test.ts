import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInputCheck, type Price } from "@nodeloom/kernel";
import { createEgressClient, createLogger, createSlots } from "@nodeloom/platform";
import { createProvider, type FilesProvider } from "@nodeloom/providers";
import { eventually } from "../../../../test-support/eventually";
import { voice } from "../../../../test-support/direct";
import { DOWNLOADS } from "../../src/calls/call";
import { createCallClock } from "../../src/calls/clock";
import { createFiles, type Files } from "../../src/calls/files";
import { createGates } from "../../src/calls/gates";
import { openSpool, type Spool } from "../../src/calls/spool";
import { createSubmissions } from "../../src/calls/submissions";
import type { Media } from "../../src/clients";
import type { CatalogModel } from "../../src/plan/model-catalog";
import type { Stores } from "../../src/record/stores";
import type { ModelCall } from "../../src/run/calls";
import type { RunStatus } from "../../src/run/states";
import { openStore } from "../support/index";
import { startMedia, type RunningMedia } from "../support/media";
import { SANDBOX_KEY, startSandbox, type RunningSandbox } from "../support/sandbox";

jest.setTimeout(60_000);

const MIB = 1_048_576;
const PRICE: Price = { basis: "run", microUsd: 10_000 };
const INPUTS = { type: "object", properties: { prompt: { type: "string" }, voice: {}, sandbox: {} } };
const logger = createLogger("test", "silent");

let sandbox: RunningSandbox;
let storage: RunningMedia;
let media: Media;
let egress: ReturnType<typeof createEgressClient>;
let stores: Stores;
let stopStore: () => Promise<void>;
let spools: Spool[];
let spoolFolder: string;
let status: RunStatus;
/** Requests that the provider got. */
let requests: number;

beforeAll(async () => {
  sandbox = await startSandbox();
  egress = createEgressClient({ allow: [sandbox.address] });
  storage = await startMedia();
  ({ client: media } = storage);
  ({ stores, stop: stopStore } = await openStore());
});
afterAll(async () => {
  await egress.close();
  await Promise.all([sandbox.stop(), storage.stop(), stopStore()]);
});
beforeEach(() => {
  spools = [];
  status = "processing";
  requests = 0;
  spoolFolder = join(storage.folder, randomUUID());
});
afterEach(() => Promise.all(spools.map((spool) => spool.stop())));

/** One process's spool. */
const open = async (maxBytes = MIB): Promise<Spool> => {
  const rows = { statesOf: (ids: readonly string[]) => Promise.resolve(ids.map((_id) => ({ _id, status, holdId: null as never }))) };
  const spool = await openSpool({ folder: spoolFolder, maxBytes, media, rows, logger });
  spools.push(spool);
  return spool;
};

/** The calls of one process. */
const processWith = (spool: Pick<Spool, "keep" | "store" | "leave">): Files => {
  const settings = voice(sandbox.url, "sandbox-speech");
  const model: CatalogModel = {
    internalName: "m",
    modality: "audio",
    providerKind: "direct-http",
    price: PRICE,
    inputSchema: INPUTS,
    validate: createInputCheck(INPUTS),
    minTier: "free",
    providerJson: JSON.stringify(settings),
    inputSchemaJson: JSON.stringify(INPUTS),
  };
  return createFiles({
    catalog: { getAny: () => Promise.resolve(model) } as never,
    provider: () => {
      const provider = createProvider(model.providerJson, { egress, secret: () => SANDBOX_KEY }) as FilesProvider;
      return {
        ...provider,
        run: (request: Parameters<FilesProvider["run"]>[0]) => {
          requests += 1;
          return provider.run(request);
        },
      };
    },
    gate: () => createGates(logger)(model.providerJson),
    media,
    downloads: createSlots(DOWNLOADS),
    submissions: createSubmissions(stores),
    own: "http://media.test/",
    spool,
  });
};

const newCall = (): ModelCall => {
  const executionId = randomUUID();
  return {
    ...{ executionId, userId: "u1", nodeId: "n", nodeIndex: 0, item: 0, key: `${executionId}:n:0` },
    ...{ model: "m", inputs: { prompt: "a paid sound" }, price: PRICE, tags: {} },
  } as unknown as ModelCall;
};

const keptFiles = (): string[] => (existsSync(spoolFolder) ? readdirSync(spoolFolder).filter((name) => !name.endsWith(".part")) : []);
const run = (files: Files, call: ModelCall) => files.run(call, new AbortController().signal, createCallClock());
const bytesAt = async (url: string): Promise<number> => (await (await storage.fetch(url)).arrayBuffer()).byteLength;

describe("A paid file that can't be stored because media is unavailable", () => {
  it("waits on disk, and is stored when media is back", async () => {
    const spool = await open();
    await storage.halt();
    const call = newCall();
    const result = run(processWith(spool), call);
    await eventually(() => keptFiles().length === 1);
    await storage.restart();
    const { files } = await result;
    expect(await bytesAt(files[0]!.url)).toBeGreaterThan(1_000);
    expect(keptFiles()).toEqual([]);
  });

  it("is stored by the next process if this one is killed, and the provider isn't asked again", async () => {
    const killed = { ...(await open()), store: () => new Promise<never>(() => undefined) };
    await storage.halt();
    const call = newCall();
    void run(processWith(killed), call).catch(() => undefined);
    await eventually(() => keptFiles().length === 1);
    await storage.restart();
    const { files } = await run(processWith(await open()), call);
    expect(await bytesAt(files[0]!.url)).toBeGreaterThan(1_000);
    expect(requests).toBe(1);
    await eventually(() => keptFiles().length === 0);
  });

  it("isn't written if the spool is full", async () => {
    const spool = await open(100);
    const header = { id: `${randomUUID()}-0-0-0`, ownerId: "u1", accept: ["audio"], making: undefined };
    expect(await spool.keep(header, [Buffer.alloc(60), Buffer.alloc(60)])).toBe(false);
    expect(readdirSync(spoolFolder)).toEqual([]);
    expect(await spool.keep(header, [Buffer.alloc(20)])).toBe(true);
  });

  it("is removed if its run has ended or was erased", async () => {
    const spool = await open();
    const header = { id: `${randomUUID()}-0-0-0`, ownerId: "u1", accept: ["audio"], making: undefined };
    await spool.keep(header, [Buffer.alloc(20)]);
    await spool.stop();
    status = "erased";
    await open();
    await eventually(() => keptFiles().length === 0);
    expect((await media.getObjects({ ids: [header.id], ownerId: "u1" })).objects).toEqual([]);
  });
});
