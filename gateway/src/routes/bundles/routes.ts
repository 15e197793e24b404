/** Bundles: workflows with their files in one archive, exported from one account and imported into another. */
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BUNDLE_BOUNDS as BOUNDS, invalidRequest } from "@nodeloom/kernel";
import { pieces } from "@nodeloom/platform";
import { bundles as proto } from "@nodeloom/proto";
import { z } from "zod";
import { authorize, runCapability } from "../../auth/caller";
import { auditedForOwner } from "../../edge/audit";
import { content, defineRoute, STREAMED, type CallContext } from "../../edge/route";
import { formBody } from "../../http/body/kinds";
import { whileConnected } from "../../http/event-stream";
import { readForm } from "../../http/form";
import { BUNDLE_MS } from "../../http/limits";
import { aliasName, slug } from "../../http/schemas";
import { check } from "../../http/validate";
import { atMost, mediaQuota } from "../media/uploads";
import { authorOf, isWithoutRun, workflowCap } from "../workflows/requests";

const ZIP = "application/zip";
const BUNDLE = "bundle";
/** A bundle can move the alias of any of its workflows. */
const RUN_ANY = runCapability("workflow", "");

const flag = z
  .enum(["true", "false"])
  .optional()
  .transform((text) => text === "true")
  .meta({ override: { type: "boolean" } });
const order = z.strictObject({
  dryRun: flag.meta({ description: "Only plans", override: { type: "boolean" } }),
  alias: aliasName
    .optional()
    .meta({ description: "Publish each workflow and point this alias to its version. Without it, only drafts change", example: "staging" }),
  planId: z
    .string()
    .regex(/^[0-9a-f]{32}$/, "must be the planId of a plan")
    .optional()
    .meta({ description: "Import only if this plan still holds, or continue its import" }),
  overwrite: flag.meta({ description: "Replace workflows in conflict", override: { type: "boolean" } }),
});
const form = order
  .extend({ bundle: z.string().meta({ description: "The archive (ZIP)", override: { format: "binary" } }) })
  .meta({ id: "BundleForm", description: "A form with the archive as `bundle`" });

const planned = z.object({
  name: z.string().meta({ description: "Its name in the bundle" }),
  slug: z.string().nullable().meta({ description: "Its slug in this account; null until it exists" }),
  action: z.enum(["create", "update", "unchanged", "conflict"]),
  reason: z.string().optional().meta({ description: "Reason for the conflict" }),
  problems: z
    .array(z.string())
    .optional()
    .meta({ description: "Problems that make every run invalid; absent if there are none. Such a workflow isn't published" }),
  publishes: z.boolean().meta({ description: "True if a version is published" }),
  version: z
    .int()
    .nullable()
    .meta({ description: "The version that the alias points to; null without an alias, or until it is published" }),
});
const answer = z
  .object({
    planId: z.string().meta({ example: "3f7c0a5be1d94c2f8a6b7e0d1c2f3a4b" }),
    state: z.enum(["planned", "applying", "applied"]),
    workflows: z.array(planned),
    files: z.array(z.string()).meta({ description: "Names of the bundle's files that the import stores" }),
    ignored: z.array(z.string()).meta({ description: "Entries and members of the bundle that imports don't use" }),
  })
  .meta({ id: "BundleImport" });

const view = ({ planId, state, workflows, files, ignored }: proto.ImportBundleResponse): z.infer<typeof answer> => ({
  ...{ planId, state: state as z.infer<typeof answer>["state"], files, ignored },
  workflows: workflows.map(({ name, slug: own, action, reason, problems, publishes, version }) => ({
    ...{ name, slug: own || null, action: action as z.infer<typeof planned>["action"] },
    ...(reason === "" ? {} : { reason }),
    ...(problems.length === 0 ? {} : { problems }),
    ...{ publishes, version: version || null },
  })),
});

type Context = CallContext<"any", unknown, unknown, unknown>;

const headerOf = ({ caller }: Context): proto.ImportBundleHeader =>
  proto.ImportBundleHeader.fromPartial({
    ...{ ownerId: caller.user.id, authorId: authorOf(caller), unapproved: !caller.user.approved, withoutRun: isWithoutRun(caller) },
    ...{ maxWorkflows: workflowCap(caller), quotaBytes: mediaQuota(caller) },
  });

/** Streams the archive as it arrives, then the order, which is complete when the form has ended. */
async function* messages(
  header: proto.ImportBundleHeader,
  bytes: AsyncIterable<Buffer>,
  ordered: Promise<proto.ImportBundleOrder>,
): AsyncIterable<proto.ImportBundleRequest> {
  yield { part: { $case: "header", value: header } };
  for await (const value of pieces(bytes)) yield { part: { $case: "chunk", value } };
  yield { part: { $case: "order", value: await ordered } };
  yield { part: { $case: "end", value: {} } };
}

const skip = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
  for await (const _ of bytes);
  return "";
};

type Import = (order: proto.ImportBundleOrder) => Promise<proto.ImportBundleResponse>;

/**
 * Reads the form while its archive is forwarded.
 * @param work passes the order to the service; if it fails first, nothing changes
 */
const withArchive = async <T>(context: Context, work: (importOrder: z.infer<typeof order>, perform: Import) => Promise<T>): Promise<T> => {
  const bytes = new PassThrough();
  let [resolve, reject]: [(importOrder: proto.ImportBundleOrder) => void, (error: unknown) => void] = [() => undefined, () => undefined];
  const ordered = new Promise<proto.ImportBundleOrder>((accept, refuse) => ([resolve, reject] = [accept, refuse]));
  ordered.catch(() => undefined);
  let answered: Promise<proto.ImportBundleResponse> | undefined;
  const keep = async (file: AsyncIterable<Buffer>, name: string): Promise<string> => {
    if (name !== BUNDLE || answered) return skip(file);
    const call = context.gateway.services.bundles.importBundle(messages(headerOf(context), bytes, ordered), { deadlineMs: BUNDLE_MS });
    answered = call;
    call.catch((error: unknown) => bytes.destroy(error as Error));
    await pipeline(atMost(file, BOUNDS.packedBytes), bytes);
    return name;
  };
  try {
    const { fields } = await readForm(context.request, keep, BUNDLE);
    const importing = answered as Promise<proto.ImportBundleResponse> | undefined;
    if (!importing) throw invalidRequest([{ path: BUNDLE, message: "is required, and must be a file" }]);
    return await work(check(order, fields), (importOrder) => {
      resolve(importOrder);
      return importing;
    });
  } catch (error) {
    reject(error);
    bytes.destroy();
    throw error;
  }
};

const imported = async (context: Context, { dryRun, alias = "", planId = "", overwrite }: z.infer<typeof order>, perform: Import) => {
  if (alias !== "") authorize(context.caller, "any", RUN_ANY);
  const request = { dryRun, alias, planId, overwrite };
  if (dryRun) return view(await perform(request));
  const action = {
    action: "bundle.import",
    target: alias || "drafts",
    change: { alias: alias || null, planId: planId || null, overwrite },
  };
  return auditedForOwner(context, action, async () => {
    const value = view(await perform(request));
    const changed = value.workflows
      .filter(({ action: one }) => one !== "unchanged")
      .map(({ slug: own, version }) => ({ slug: own, version }));
    return { value, after: { planId: value.planId, state: value.state, workflows: changed } };
  });
};

const slugs = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(slug).min(1).max(BOUNDS.workflows))
  .meta({ description: `Slugs of your workflows, separated by commas; at most ${BOUNDS.workflows}`, override: { type: "string" } });

const shared = { tag: "Workflows", auth: "any", limit: "user" } as const;

export const bundleRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/bundles",
    operationId: "exportBundle",
    summary: "Export workflows with their files",
    description:
      "A ZIP archive of the drafts, the workflows inside them, and the files that they use. Literals that look like credentials are replaced by `{{secrets.REDACTED}}`; `bundle.json` lists them. Secrets, apps, hooks, schedules and versions aren't in it.",
    role: "viewer",
    capability: "workflow:read",
    query: z.strictObject({ slugs }),
    responses: { 200: content({ [ZIP]: z.string().meta({ override: { format: "binary" } }) }) },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, query, response } = context;
      const signal = whileConnected(response, gateway.stopping);
      const request = { ownerId: caller.user.id, slugs: [...new Set(query.slugs)] };
      const all = gateway.services.bundles.exportBundle(request, { deadlineMs: BUNDLE_MS, signal })[Symbol.asyncIterator]();
      // Waits for the first bytes, so that an error isn't a broken archive.
      const action = { action: "bundle.export", target: query.slugs[0] ?? "", change: { slugs: request.slugs } };
      const first = await auditedForOwner(context, action, async () => ({ value: await all.next() }));
      async function* bytes(): AsyncIterable<Uint8Array> {
        for (let next = first; !next.done; next = await all.next()) yield next.value.chunk;
      }
      response.status(200).set({
        "Content-Type": ZIP,
        "Content-Disposition": 'attachment; filename="bundle.zip"',
        "Cache-Control": "no-store",
      });
      await pipeline(Readable.from(bytes()), response);
      return STREAMED;
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/bundles",
    operationId: "importBundle",
    summary: "Plan or import a bundle of workflows",
    description:
      "Creates and updates the workflows of a bundle. A name in a bundle is one workflow of the account, so a second import updates what the first one created. With `dryRun`, you get the plan only; with its `planId`, the import happens only if the plan still holds, and a repeat continues an import that was interrupted. `alias` also needs the capability to run the workflows. A request waits for a minute; while `state` is `applying`, send it again with the `planId`.",
    role: "editor",
    capability: "workflow:write",
    body: formBody(form),
    responses: { 200: answer, 202: answer },
    errors: [
      ...(["PLAN_STALE", "BUNDLE_CONFLICT", "WORKFLOW_CAP_REACHED", "ACCOUNT_NOT_APPROVED", "MEDIA_QUOTA_EXCEEDED"] as const),
      ...(["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "WORKFLOW_NOT_FOUND", "WORKFLOW_INVALID"] as const),
    ],
    handler: async (context) => {
      const body = await withArchive(context as Context, (importOrder, perform) => imported(context as Context, importOrder, perform));
      return { status: body.state === "applying" ? 202 : 200, body };
    },
  }),
];
