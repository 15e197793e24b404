import { covers, LIMITS } from "@nodeloom/kernel";
import { workflows } from "@nodeloom/proto";
import type { z } from "zod";
import { runCapability, type Caller } from "../../auth/caller";
import { payloadTooLarge } from "../../http/errors";
import { matchRevision } from "../../http/revisions";
import type { CallContext } from "../../edge/route";
import { toApp } from "../apps/settings";
import { mediaQuota } from "../media/uploads";
import type { Changes, creation } from "./schemas";

export const NO_NODES = "[]";
export const DEFAULT_VIEWPORT = '{"x":0,"y":0,"zoom":1}';
/** Members stored and returned as the sent text. */
export const LOSSLESS = ["nodes", "edges", "viewport", "cover", "tests"] as const;

/** Lossless members by field name; absent if not sent. */
const losslessTexts = (context: Pick<CallContext, "members">): Partial<Record<(typeof LOSSLESS)[number], string>> => {
  const texts: Partial<Record<(typeof LOSSLESS)[number], string>> = {};
  let bytes = 0;
  for (const member of LOSSLESS) {
    const text = context.members().get(member);
    if (text === undefined) continue;
    texts[member] = text;
    bytes += Buffer.byteLength(text);
  }
  if (bytes > LIMITS.workflowBytes) throw payloadTooLarge(LIMITS.workflowBytes);
  return texts;
};

/** Revision in the request's If-Match. */
export const wantedRevision = ({ gateway, params, caller, request }: CallContext<"any", { slug: string }>): Promise<number | undefined> =>
  matchRevision(request.headers["if-match"], async () => {
    const { workflow: stored } = await gateway.services.workflows.getWorkflow({ slug: params.slug, userId: caller.user.id });
    return stored?.revision ?? 0;
  });

/** Maximum saved workflows of the caller; undefined without a cap. */
export const workflowCap = ({ isAdmin, user }: Caller): number | undefined => (isAdmin ? undefined : (user.plan.maxWorkflows ?? undefined));

/** The person, if the account is an organization's. */
export const authorOf = ({ organization, person }: Caller): string | undefined => (organization ? person.id : undefined);

/**
 * True if a caller can't run the workflow, so that their changes wait for approval.
 * @param workflowSlug empty for a new workflow
 */
export const isWithoutRun = ({ capabilities }: Caller, workflowSlug = ""): boolean =>
  !covers(capabilities, runCapability("workflow", workflowSlug));

export const createRequest = (body: z.infer<typeof creation>, context: CallContext<"any">): workflows.CreateWorkflowRequest => {
  const texts = losslessTexts(context);
  return workflows.CreateWorkflowRequest.fromPartial({
    ownerId: context.caller.user.id,
    authorId: authorOf(context.caller),
    name: body.name,
    description: body.description ?? "",
    tags: body.tags ?? [],
    isTemplate: body.isTemplate ?? false,
    hidden: body.hidden ?? false,
    archived: body.archived ?? false,
    publicPlayground: body.publicPlayground ?? false,
    mcp: body.mcp ?? false,
    app: body.app ? toApp(body.app) : undefined,
    retentionDays: body.retentionDays ?? undefined,
    byKey: context.caller.key !== null,
    withoutRun: isWithoutRun(context.caller),
    folderId: body.folderId ?? undefined,
    thumbnail: body.thumbnail ?? undefined,
    coverJson: texts.cover ?? "",
    nodesJson: texts.nodes ?? NO_NODES,
    edgesJson: texts.edges ?? NO_NODES,
    testsJson: texts.tests ?? "",
    viewportJson: texts.viewport ?? DEFAULT_VIEWPORT,
    maxWorkflows: workflowCap(context.caller),
    // Under an Idempotency-Key all attempts share an id, also after a crash.
    reference: context.executionId,
    unapproved: !context.caller.user.approved,
    mediaQuotaBytes: mediaQuota(context.caller),
  });
};

export const updateRequest = (workflowSlug: string, body: Changes, context: CallContext<"any">): workflows.UpdateWorkflowRequest => {
  const texts = losslessTexts(context);
  return workflows.UpdateWorkflowRequest.fromPartial({
    slug: workflowSlug,
    ownerId: context.caller.user.id,
    authorId: authorOf(context.caller),
    name: body.name,
    description: body.description,
    tags: body.tags && { values: body.tags },
    isTemplate: body.isTemplate,
    hidden: body.hidden,
    archived: body.archived,
    publicPlayground: body.publicPlayground,
    mcp: body.mcp,
    app: body.app ? toApp(body.app) : undefined,
    clearApp: body.app === null,
    retentionDays: body.retentionDays ?? undefined,
    clearRetentionDays: body.retentionDays === null,
    byKey: context.caller.key !== null,
    withoutRun: isWithoutRun(context.caller, workflowSlug),
    folderId: body.folderId ?? undefined,
    clearFolderId: body.folderId === null,
    thumbnail: body.thumbnail ?? undefined,
    clearThumbnail: body.thumbnail === null,
    coverJson: texts.cover,
    nodesJson: texts.nodes,
    edgesJson: texts.edges,
    testsJson: texts.tests,
    viewportJson: texts.viewport,
    maxWorkflows: workflowCap(context.caller),
    unapproved: !context.caller.user.approved,
    mediaQuotaBytes: mediaQuota(context.caller),
  });
};
