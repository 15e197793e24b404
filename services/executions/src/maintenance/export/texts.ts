import { executionOf, toCredits } from "@nodeloom/kernel";
import { budgetJson } from "@nodeloom/platform";
import { media, type billing, type identity, type usage, type workflows } from "@nodeloom/proto";

const MICRO = 1_000_000;
const iso = (at: Date | undefined): string | null => at?.toISOString() ?? null;

/** Builds a JSON object in which some members are already JSON texts. These texts keep their original form. */
const withTexts = (members: Record<string, unknown>, texts: Readonly<Record<string, string>>): string => {
  const own = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value ?? null)}`);
  const memberTexts = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}: ${text || "null"}`);
  return `{\n  ${[...own, ...memberTexts].join(",\n  ")}\n}\n`;
};

export const workflowText = (workflow: workflows.Workflow): string => {
  const { nodesJson, edgesJson, viewportJson, coverJson, generators: _, createdAt, updatedAt, ...members } = workflow;
  const times = { createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
  return withTexts({ ...members, ...times }, { nodes: nodesJson, edges: edgesJson, viewport: viewportJson, cover: coverJson });
};

export const versionText = ({ nodesJson, edgesJson, viewportJson, createdAt, ...members }: workflows.Version): string =>
  withTexts({ ...members, createdAt: iso(createdAt) }, { nodes: nodesJson, edges: edgesJson, viewport: viewportJson });

export const keyOf = ({ createdAt, lastUsedAt, expiresAt, deletedAt, webhook, ...key }: identity.Key): Record<string, unknown> => ({
  ...key,
  ...{ createdAt: iso(createdAt), lastUsedAt: iso(lastUsedAt), expiresAt: iso(expiresAt) },
  ...(deletedAt ? { deletedAt: iso(deletedAt) } : {}),
  webhook: webhook ? { url: webhook.url, events: webhook.events, disabledAt: iso(webhook.disabledAt) } : null,
});

export const keyRequestOf = ({ at, errorCode, executionId, ip, ...request }: identity.KeyRequest): Record<string, unknown> => ({
  at: iso(at),
  ...request,
  ...{ errorCode: errorCode || null, executionId: executionId || null, ip: ip || null },
});

export interface AccountParts {
  user: identity.User;
  account: billing.Account | undefined;
  keys: readonly identity.Key[];
  secrets: readonly identity.Secret[];
  budgets: readonly billing.Budget[];
}

export const accountOf = ({ user, account, keys, secrets, budgets }: AccountParts): Record<string, unknown> => ({
  user: {
    ...{ id: user.id, email: user.email, role: user.role, tier: user.tier, approved: user.approved, secondFactor: user.secondFactor },
    business: user.business ?? null,
    createdAt: iso(user.createdAt),
    erasesAt: iso(user.erasesAt),
  },
  credits: {
    plan: toCredits(account?.planMillicredits ?? 0),
    topUp: toCredits(account?.topUpMillicredits ?? 0),
    held: toCredits(account?.heldMillicredits ?? 0),
    renewsAt: iso(account?.renewsAt),
    grants: account?.grants ?? [],
  },
  keys: keys.map(keyOf),
  secrets: secrets.map(({ name, hosts, workflows, setAt }) => ({
    ...{ name, hosts, setAt: iso(setAt) },
    ...(workflows.length === 0 ? {} : { workflows }),
  })),
  budgets: budgets.map(budgetJson),
});

export const usageOf = (row: usage.UsageRow): Record<string, unknown> => ({
  ...{ id: row.id, executionId: row.executionId, createdAt: iso(row.createdAt), status: row.status, source: row.source },
  ...{ workflowSlug: row.workflowSlug ?? null, modelIds: row.modelIds, keyId: row.keyId || null, metadata: row.metadata },
  ...{ cost: row.costMicroUsd / MICRO, userCost: row.userCostMicroUsd / MICRO, creditsCost: toCredits(row.millicredits) },
  ...{ durationMs: row.durationMs, errorCode: row.errorCode ?? null, requestId: row.requestId ?? null },
});

export const movementOf = (row: billing.LedgerRow): Record<string, unknown> => ({
  ...{ id: row.id, kind: row.kind, createdAt: iso(row.createdAt), note: row.note },
  ...{ credits: toCredits(row.millicredits), moved: toCredits(row.movedMillicredits), runs: row.runs },
  ...{ executionId: executionOf(row.executionId) || null, keyId: row.keyId || null, model: row.model || null },
});

const EXTENSIONS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/x-matroska": "mka",
  "audio/x-wav": "wav",
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "video/mp2t": "ts",
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "video/x-msvideo": "avi",
};
const OTHER = /^\w+\/(?:x-)?(\w{1,8})$/;

/** Path of a file inside the archive. */
export const pathOf = ({ id, contentType }: Pick<media.StoredObject, "id" | "contentType">): string => {
  const extension = EXTENSIONS[contentType] ?? OTHER.exec(contentType)?.[1] ?? "bin";
  return `files/${id.replace(/[^\w.-]/g, "_")}.${extension}`;
};

export const fileOf = ({ createdAt, origin, ...file }: media.StoredObject): Record<string, unknown> => ({
  path: pathOf(file),
  ...{ id: file.id, url: file.url, contentType: file.contentType, bytes: file.bytes, kept: file.kept },
  ...{ width: file.width ?? null, height: file.height ?? null, durationMs: file.durationMs ?? null },
  ...{
    contentHash: file.contentHash,
    model: file.model || null,
    isGenerated: origin === media.Origin.ORIGIN_GENERATED,
    createdAt: iso(createdAt),
  },
});
