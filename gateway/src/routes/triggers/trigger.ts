import { unlessNotFound } from "@nodeloom/kernel";
import type { triggers } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { CallContext } from "../../edge/route";
import { aliasName } from "../../http/schemas";
import { specific } from "../runs/schemas";
import { selectedGraph } from "../workflows/selection";

/** Parts that schedules and hooks share. */

export const alias = aliasName.meta({
  description: "The alias of the workflow that its runs use; null or absent: `production`",
  example: "staging",
});
export const madeBy = z
  .string()
  .nullable()
  .meta({ description: "The person who created it or last changed its target. It stops if they lose access. Null if unknown" });
export const triggerOwner = ({ user, person, key }: Caller): triggers.TriggerOwner => ({
  userId: user.id,
  keyId: key?.id ?? "",
  personId: person.id,
});

/** Alias for a schedule or a hook: the named one, or else the key's; empty for `production`. */
export const aliasFor = (caller: Caller, wantedAlias: string | null | undefined): string =>
  selectedGraph(caller, { alias: wantedAlias ?? "" }).alias;

/** Adds whether a change of the graph is pending. Each workflow is read once. */
export const withPending = async <T extends { workflowSlug: string }>(
  { gateway, caller }: Pick<CallContext<"any">, "gateway" | "caller">,
  views: readonly T[],
) => {
  const slugs = [...new Set(views.map(({ workflowSlug }) => workflowSlug))];
  const isPending = async (slug: string): Promise<readonly [string, boolean]> => {
    const schema = await unlessNotFound(gateway.services.workflows.getSchema({ slug, userId: caller.user.id, version: "" }));
    return [slug, schema?.pendingChange ?? false];
  };
  const pending = new Map(await Promise.all(slugs.map(isPending)));
  return views.map((one) => ({ ...one, pendingChange: pending.get(one.workflowSlug) ?? false }));
};

export const shared = { tag: "Schedules and hooks", auth: "any", limit: "user" } as const;
export const reading = { ...shared, capability: "workflow:read", role: "viewer" } as const;
const WRITES = { anyOf: ["workflow:write", "schedules:write"] };
export const removing = { ...shared, capability: WRITES, role: "editor" } as const;
/** Settings shared by routes that create runs for later in the caller's name. */
export const scheduling = { ...removing, capability: [WRITES, specific("workflow", "slug")], approval: true } as const;
export const settingUp = { ...scheduling, capability: ["workflow:write", specific("workflow", "slug")] } as const;
