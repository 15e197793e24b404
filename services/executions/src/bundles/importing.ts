/** Imports bundles: makes a plan, and runs it in one Temporal workflow. A repeated request with the plan's id continues the import. */
import { createHash } from "node:crypto";
import { invalidRequest, ALIAS, unavailable } from "@nodeloom/kernel";
import { createSlots, NoSlot } from "@nodeloom/platform";
import type { bundles as proto } from "@nodeloom/proto";
import type { Workflows } from "../clients";
import type { PayloadStore } from "../record/payloads";
import type { BundleOrder, BundleOutcome } from "../run/bundle";
import type { BundleStarter } from "../workflow/bundle-client";
import { checkConflicts, checkPublished, planImport, planStale, sourcesOf, type BundlePlan, type PlannedWorkflow } from "./plan";
import { openBundle, type Bundle } from "./reading";
import { spooled, type BundleUpload } from "./spool";
import { filesOf, type Staging, storedJson, storeJson } from "./staging";

/** Limits: archives that are read concurrently, and requests that can wait. */
const READERS = { concurrency: 2, queueLimit: 20 };
const READER_WAIT_MS = 60_000;
const FIND_MS = 30_000;

export interface ImportingOptions {
  workflows: Pick<Workflows, "findBundled">;
  payloads: Pick<PayloadStore, "put" | "get">;
  staging: Staging;
  starter: BundleStarter;
}

/** A started import, stored for repeated requests. */
interface BegunImport {
  sources: string;
  workflows: PlannedWorkflow[];
  order: BundleOrder;
}

type Answer = Pick<proto.ImportBundleResponse, "planId" | "state" | "workflows">;

const digestOf = (bundle: Bundle): string =>
  createHash("sha256")
    .update(JSON.stringify(sourcesOf(bundle)))
    .digest("base64url");

const importId = (ownerId: string, planId: string): string => createHash("sha256").update(`${ownerId}\n${planId}`).digest("hex");

const appliedView = (planned: readonly PlannedWorkflow[], { slugs, versions }: BundleOutcome): PlannedWorkflow[] =>
  planned.map((one) => ({ ...one, slug: slugs[one.name] ?? one.slug, version: versions[one.name] ?? one.version }));

/** Names of workflows whose alias the import has to move. */
const movesOf = ({ workflows, targets }: BundlePlan, alias: string): string[] =>
  alias === ""
    ? []
    : workflows.filter(({ name, publishes, version }) => publishes || targets.get(name)!.aliasVersion !== version).map(({ name }) => name);

export const createBundleImports = ({ workflows, payloads, staging, starter }: ImportingOptions) => {
  const readers = createSlots(READERS);

  const planOf = async (bundle: Bundle, { header, order }: BundleUpload): Promise<BundlePlan> => {
    const request = { ownerId: header.ownerId, names: [...bundle.workflows.keys()], alias: order.alias };
    const bundled = await workflows.findBundled(request, { deadlineMs: FIND_MS });
    return planImport(bundle, bundled.workflows, order);
  };

  const begin = async (bundle: Bundle, plan: BundlePlan, { header, order }: BundleUpload): Promise<BegunImport> => {
    const { ownerId, authorId, unapproved, withoutRun, maxWorkflows } = header;
    const id = importId(ownerId, plan.id);
    const steps = await staging.stage(bundle, plan, header, id);
    const started: BegunImport = {
      sources: digestOf(bundle),
      workflows: plan.workflows,
      order: {
        ...{ ownerId, planId: plan.id, alias: order.alias, unapproved, withoutRun, steps },
        ...(authorId === undefined ? {} : { authorId }),
        ...(maxWorkflows === undefined ? {} : { maxWorkflows }),
        slugs: Object.fromEntries(plan.workflows.flatMap(({ name, slug }) => (slug === "" ? [] : [[name, slug]]))),
        versions: Object.fromEntries(plan.workflows.flatMap(({ name, version }) => (version === 0 ? [] : [[name, version]]))),
        moves: movesOf(plan, order.alias),
      },
    };
    await storeJson(payloads, `bundle-${id}`, started, ownerId);
    return started;
  };

  /** Returns the import that was started with this plan, if the bundle is the same. @throws DomainError PLAN_STALE */
  const earlier = async (bundle: Bundle, { header, order }: BundleUpload): Promise<BegunImport> => {
    const started = await storedJson<BegunImport>(payloads, `bundle-${importId(header.ownerId, order.planId)}`);
    if (!started || started.sources !== digestOf(bundle) || started.order.alias !== order.alias) throw planStale();
    // A process of 1.1.0 stored no problems.
    return { ...started, workflows: started.workflows.map((one) => ({ ...one, problems: one.problems ?? [] })) };
  };

  const carry = async ({ order, workflows: planned }: BegunImport): Promise<Answer> => {
    const isDone = order.steps.length === 0 && order.moves.length === 0;
    const outcome = isDone ? order : await starter.apply(importId(order.ownerId, order.planId), order);
    const state = outcome ? "applied" : "applying";
    return { planId: order.planId, state, workflows: outcome ? appliedView(planned, outcome) : planned };
  };

  const perform = async (bundle: Bundle, upload: BundleUpload): Promise<proto.ImportBundleResponse> => {
    const { planId, dryRun, alias } = upload.order;
    if (alias !== "" && !ALIAS.test(alias))
      throw invalidRequest([
        { path: "alias", message: "must be at most 32 lowercase letters, digits and hyphens, and begin with a letter" },
      ]);
    const plan = await planOf(bundle, upload);
    const report = { files: filesOf(bundle, plan), ignored: bundle.ignored };
    if (dryRun) return { planId: plan.id, state: "planned", workflows: plan.workflows, ...report };
    if (planId !== "" && planId !== plan.id) return { ...(await carry(await earlier(bundle, upload))), ...report };
    checkConflicts(plan);
    checkPublished(bundle, plan);
    return { ...(await carry(await begin(bundle, plan, upload))), ...report };
  };

  const read = async (upload: BundleUpload): Promise<proto.ImportBundleResponse> => {
    const bundle = await openBundle(upload.path);
    try {
      return await perform(bundle, upload);
    } finally {
      bundle.close();
    }
  };

  /**
   * @throws DomainError INVALID_REQUEST, PLAN_STALE, BUNDLE_CONFLICT, WORKFLOW_INVALID (a published one that can't run), SERVICE_UNAVAILABLE, or the error of a workflow that can't be saved
   */
  return (messages: AsyncIterable<proto.ImportBundleRequest>): Promise<proto.ImportBundleResponse> =>
    spooled(messages, async (upload) => {
      try {
        return await readers.use(() => read(upload), { key: upload.header.ownerId, maxWaitMs: READER_WAIT_MS });
      } catch (error) {
        throw error instanceof NoSlot ? unavailable("too many bundles are being imported: retry") : error;
      }
    });
};

export type BundleImports = ReturnType<typeof createBundleImports>;
