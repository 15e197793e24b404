import { ApplicationFailure } from "@temporalio/common";
import { DomainError, isRefusal, PRODUCTION, relinked } from "@nodeloom/kernel";
import { workflows as proto } from "@nodeloom/proto";
import type { Workflows } from "../clients";
import type { BundleActivities } from "../workflow/activity-types";
import type { Staging } from "./staging";

const SAVE_MS = 30_000;

export interface BundleActivityOptions {
  workflows: Pick<Workflows, "saveBundled" | "setAlias">;
  staging: Pick<Staging, "read">;
}

/** Errors aren't retried: the client gets the error and can repeat the import. */
const final = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || !isRefusal(error)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, error.reason, error.kind, error.metadata);
  }
};

export const createBundleActivities = ({ workflows, staging }: BundleActivityOptions): BundleActivities => ({
  saveBundleStep: (order, step, inner) =>
    final(async () => {
      const { nodesJson, ...document } = await staging.read(step.payload);
      const request = proto.SaveBundledRequest.fromPartial({
        ...{ ...order, ...step, ...document },
        nodesJson: relinked(nodesJson, new Map(Object.entries(inner))).nodesJson,
        keepProduction: order.alias !== PRODUCTION,
        reference: `bundle\n${order.planId}`,
      });
      return workflows.saveBundled(request, { deadlineMs: SAVE_MS });
    }),
  moveBundleAlias: ({ ownerId, authorId, alias, unapproved }, slug, version) =>
    final(async () => {
      await workflows.setAlias(proto.SetAliasRequest.fromPartial({ slug, ownerId, authorId, name: alias, version, unapproved }));
    }),
});
