/** Yields the entries of an account's archive. Each entry is read only when it is written, and lists are read in pages. */
import { LIMITS, unlessNotFound } from "@nodeloom/kernel";
import { auditRowJson, batchJson, executionJson } from "@nodeloom/platform";
import {
  batches as batchesProto,
  workflows as proto,
  type executions as executionsProto,
  type identity as identityProto,
  type media as mediaProto,
} from "@nodeloom/proto";
import type { Billing, Identity, Media, Triggers, Usage, Workflows } from "../../clients";
import type { LeavingStore } from "../../record/erasure/leaving";
import type { BatchReads } from "../../batches/reads";
import type { Reads } from "../../reads/reads";
import { allPages, atMost, jsonEntry, linesEntry, textEntry, type Entry, type Missing } from "./entry";
import { accountOf, fileOf, keyRequestOf, movementOf, pathOf, usageOf, versionText, workflowText } from "./texts";

/** Maximum contents of an archive. Its README lists the omitted data. */
const BOUNDS = {
  workflows: 10_000,
  /** The newest versions of each workflow are exported. */
  versions: 1_000,
  /** The newest executions are exported. */
  executions: 50_000,
  batches: 10_000,
  usage: 100_000,
  ledger: 100_000,
  "requests by keys": 100_000,
  "audit rows": 100_000,
  files: 20_000,
  /** Total size of all files. */
  fileBytes: 3 * 1024 ** 3,
} as const;

const RUNS_PAGE = 100;
/** Maximum page size of billing. */
const LEDGER_PAGE = 200;

export interface EntriesOptions {
  store: Pick<LeavingStore, "runIds">;
  reads: Pick<Reads, "get">;
  batches: Pick<BatchReads, "list">;
  services: { billing: Billing; identity: Identity; media: Media; triggers: Triggers; usage: Usage; workflows: Workflows };
  /** Deadline for reading one file. */
  fileMs: number;
}

export const createEntries = ({ store, reads, batches, services, fileMs }: EntriesOptions) => {
  const { billing, identity, media, triggers, usage, workflows } = services;

  const account = async (userId: string): Promise<Entry> => {
    const [{ user }, { account: balances }, { keys }, { secrets }, { budgets }] = await Promise.all([
      identity.getUser({ userId }),
      billing.getAccount({ userId }),
      identity.listKeys({ userId, withDeleted: true }),
      identity.listSecrets({ owner: userId }),
      billing.listBudgets({ userId }),
    ]);
    if (!user) throw new Error("identity answered without a user");
    return jsonEntry("account.json", accountOf({ user, account: balances, keys, secrets, budgets }));
  };

  const summaries = (userId: string): AsyncIterable<proto.WorkflowSummary> =>
    allPages(async (cursor) => {
      const request = { userId, own: true, limit: LIMITS.pageRows, cursor };
      const page = await workflows.listWorkflows(proto.ListWorkflowsRequest.fromPartial(request));
      return { rows: page.workflows, next: page.nextCursor };
    });

  const versions = (slug: string, ownerId: string): AsyncIterable<proto.Version> =>
    allPages(async (cursor) => {
      const { versions: rows } = await workflows.listVersions({ slug, ownerId, limit: LIMITS.pageRows, before: Number(cursor) });
      return { rows, next: rows.length < LIMITS.pageRows ? "" : String(rows.at(-1)!.version) };
    });

  async function* workflowEntries(userId: string, missing: Missing): AsyncIterable<Entry> {
    const all = atMost(summaries(userId), BOUNDS.workflows, () => missing.add(`workflows beyond the ${BOUNDS.workflows} changed last`));
    for await (const { slug } of all) {
      const reply = await unlessNotFound(workflows.getWorkflow({ slug, userId }));
      if (!reply?.workflow) continue;
      yield textEntry(`workflows/${slug}/workflow.json`, workflowText(reply.workflow));
      const newestVersions = atMost(versions(slug, userId), BOUNDS.versions, () =>
        missing.add(`versions of ${slug} before the newest ${BOUNDS.versions}`),
      );
      for await (const { version } of newestVersions) {
        const versionReply = await unlessNotFound(workflows.getVersion({ slug, ownerId: userId, version }));
        if (versionReply?.version) yield textEntry(`workflows/${slug}/versions/${version}.json`, versionText(versionReply.version));
      }
    }
  }

  async function* runs(userId: string): AsyncIterable<Record<string, unknown>> {
    for (let page = await store.runIds(userId, RUNS_PAGE, undefined); page.length > 0;) {
      for (const { _id } of page) {
        const run: executionsProto.Execution | undefined = await unlessNotFound(reads.get(_id, userId));
        if (run) yield executionJson(run, run.resultJson === "" ? undefined : JSON.parse(run.resultJson));
      }
      page = page.length < RUNS_PAGE ? [] : await store.runIds(userId, RUNS_PAGE, page.at(-1));
    }
  }

  const batchRows = (userId: string): AsyncIterable<batchesProto.Batch> =>
    allPages(async (cursor) => {
      const { batches: rows, nextCursor } = await batches.list(
        batchesProto.ListBatchesRequest.fromPartial({ userId, limit: LIMITS.pageDefault, cursor }),
      );
      return { rows, next: nextCursor };
    });

  const usageRows = (userId: string): AsyncIterable<Record<string, unknown>> =>
    allPages(async (cursor) => {
      const offset = Number(cursor);
      const query = { userId, status: "", modelId: "", workflowSlug: "", limit: LIMITS.usagePageRows, offset, sources: [] };
      const { rows } = await usage.listRows(query);
      const next = rows.length < LIMITS.usagePageRows ? "" : String(offset + rows.length);
      return { rows: rows.map(usageOf), next };
    });

  const movements = (userId: string): AsyncIterable<Record<string, unknown>> =>
    allPages(async (cursor) => {
      const { rows, nextCursor } = await billing.listLedger({ userId, limit: LEDGER_PAGE, cursor });
      return { rows: rows.map(movementOf), next: nextCursor };
    });

  const requestsBy = (userId: string, keyId: string): AsyncIterable<Record<string, unknown>> =>
    allPages(async (cursor) => {
      const query = { userId, keyId, leastStatus: 0, mostStatus: 0, limit: LIMITS.pageRows, cursor };
      const page = await unlessNotFound(identity.listKeyRequests(query));
      return { rows: (page?.requests ?? []).map(keyRequestOf), next: page?.nextCursor ?? "" };
    });

  async function* keyRequests(userId: string): AsyncIterable<Record<string, unknown>> {
    const { keys } = await identity.listKeys({ userId, withDeleted: true });
    for (const { id } of keys) yield* requestsBy(userId, id);
  }

  const auditRows = (ownerId: string): AsyncIterable<identityProto.AuditRow> =>
    allPages(async (cursor) => {
      const { rows, nextCursor } = await identity.listAudit({ ownerId, limit: LIMITS.pageRows, cursor, filter: undefined });
      return { rows, next: nextCursor };
    });

  const files = (ownerId: string): AsyncIterable<mediaProto.StoredObject> =>
    allPages(async (cursor) => {
      const { objects: rows, nextCursor } = await media.listObjects({ ownerId, limit: LIMITS.pageRows, cursor });
      return { rows, next: nextCursor };
    });

  const open = async (key: string): Promise<AsyncIterable<Uint8Array>> => {
    const messages = media.readObject({ key }, { deadlineMs: fileMs })[Symbol.asyncIterator]();
    const first = await messages.next();
    async function* bytes(): AsyncIterable<Uint8Array> {
      for (let next = first; !next.done; next = await messages.next()) if (next.value.part?.$case === "chunk") yield next.value.part.value;
    }
    return bytes();
  };

  /** If a file is removed while it is read, the attempt fails. The next attempt doesn't list the file. */
  async function* fileEntries(ownerId: string, missing: Missing): AsyncIterable<Entry> {
    let bytes = 0;
    for await (const file of atMost(files(ownerId), BOUNDS.files, () => missing.add(`files beyond the newest ${BOUNDS.files}`))) {
      bytes += file.bytes;
      if (bytes > BOUNDS.fileBytes) {
        missing.add(
          `files from ${pathOf(file)} on: together they have more than ${BOUNDS.fileBytes} bytes (files.jsonl names all of them)`,
        );
        return;
      }
      const content = await unlessNotFound(open(file.key));
      if (content) yield { path: pathOf(file), content, isCompressed: true };
      else missing.add(`${pathOf(file)}: it was removed while the archive was made`);
    }
  }

  async function* mapped<T>(rows: AsyncIterable<T>, map: (row: T) => unknown): AsyncIterable<unknown> {
    for await (const row of rows) yield map(row);
  }
  async function* parsed(texts: readonly string[]): AsyncIterable<unknown> {
    for (const text of texts) yield JSON.parse(text);
  }

  /** Yields all entries in order. `missing` is complete after the last entry. */
  return async function* entries(userId: string, missing: Missing): AsyncIterable<Entry> {
    const newest = <T>(what: keyof typeof BOUNDS, rows: AsyncIterable<T>): AsyncIterable<T> =>
      atMost(rows, BOUNDS[what], () => missing.add(`${what} beyond the first ${BOUNDS[what]}`));
    yield await account(userId);
    yield jsonEntry("folders.json", (await workflows.listFolders({ ownerId: userId })).folders);
    yield* workflowEntries(userId, missing);
    const { schedules, hooks } = await triggers.exportTriggers({ ownerId: userId });
    yield linesEntry("schedules.jsonl", parsed(schedules));
    yield linesEntry("hooks.jsonl", parsed(hooks));
    yield linesEntry("executions.jsonl", newest("executions", runs(userId)));
    yield linesEntry("batches.jsonl", mapped(newest("batches", batchRows(userId)), batchJson));
    yield linesEntry("usage.jsonl", newest("usage", usageRows(userId)));
    yield linesEntry("ledger.jsonl", newest("ledger", movements(userId)));
    yield linesEntry("key-requests.jsonl", newest("requests by keys", keyRequests(userId)));
    yield linesEntry(
      "audit.jsonl",
      mapped(newest("audit rows", auditRows(userId)), (row) => auditRowJson(row)),
    );
    yield linesEntry("files.jsonl", mapped(files(userId), fileOf));
    yield* fileEntries(userId, missing);
  };
};

export type Entries = ReturnType<typeof createEntries>;
