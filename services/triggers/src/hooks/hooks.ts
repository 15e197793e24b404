/** Creates, lists and revokes hooks. */
import { randomUUID } from "node:crypto";
import { DomainError, invalidRequest, isRefusal, unavailable, USUAL_CAPS } from "@nodeloom/kernel";
import { ExpressionError, parseExpression, type Expression } from "@nodeloom/kernel/graph";
import type { Logger } from "@nodeloom/platform";
import type { executions, triggers } from "@nodeloom/proto";
import type { Arrivals } from "../arrivals-store";
import type { Approve } from "../approved";
import type { Identity, Workflows } from "../clients";
import { ownerOf, type Owners } from "../owners";
import { takePlace } from "../places";
import type { HookRecord, HookStore } from "./hook-store";

const WHOLE: Expression = { type: "current" };

/**
 * Parses a hook's expression.
 * @throws ExpressionError
 */
export const readExpression = (expression: string): Expression => (expression.trim() === "" ? WHOLE : parseExpression(expression));

export interface HooksOptions {
  store: HookStore;
  arrivals: Arrivals;
  owners: Owners;
  identity: Pick<Identity, "putSecret" | "readSecrets" | "deleteSecret">;
  workflows: Pick<Workflows, "getDefinition">;
  approve: Approve;
  logger: Logger;
}

/** Returns the same error for hooks that don't exist, were revoked, or can't run any more. */
const noSuchHook = (): DomainError => new DomainError("not_found", "NOT_FOUND", "hook not found");

/** Name of the sender's signing secret. Identity stores it with the hook as its owner. */
const SIGNATURE = "SIGNATURE";
const secretsOf = (id: string): string => `hook:${id}`;

const requireExpression = (expression: string): void => {
  try {
    readExpression(expression);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw invalidRequest([{ path: "expression", message: error.message }]);
  }
};

export type Hooks = ReturnType<typeof createHooks>;

export const createHooks = ({ store, arrivals, owners, identity, workflows, approve, logger }: HooksOptions) => {
  const removeSecret = async ({ _id, signatureHeader }: Pick<HookRecord, "_id" | "signatureHeader">): Promise<void> => {
    if (signatureHeader === null) return;
    await identity.deleteSecret({ owner: secretsOf(_id), name: SIGNATURE }).catch((error: unknown) => {
      logger.warn({ err: error, hookId: _id }, "the secret of a revoked hook could not be removed");
    });
  };

  const insert = async (record: Omit<HookRecord, "slot">, limit: number): Promise<HookRecord> => {
    const slot = await takePlace({
      what: "hooks",
      limit,
      usedPlaces: () => store.usedPlaces(record.userId),
      insert: (free) => store.insert({ ...record, slot: free }),
    });
    return { ...record, slot };
  };

  return {
    /** @throws INVALID_REQUEST; PRECONDITION_FAILED at the account's limit; NOT_CONFIGURED; the error of a run that can't start */
    create: async (request: triggers.CreateHookRequest): Promise<HookRecord> => {
      const { workflowSlug, alias, expression, maxMillicredits, signatureHeader, signatureSecret, deliveryIdHeader, secretHash, start } =
        request;
      const owner = ownerOf(request.owner);
      requireExpression(expression);
      await arrivals.ofOwner(owner.userId);
      await owners.runner(owner, workflowSlug);
      await workflows.getDefinition({ slug: workflowSlug, userId: owner.userId, knownRevision: 0, version: "", alias });
      await approve(workflowSlug, owner.userId);
      const record: Omit<HookRecord, "slot"> = {
        ...(alias ? { alias } : {}),
        ...{ _id: randomUUID(), ...owner, workflowSlug, secretHash, start, expression, maxMillicredits },
        signatureHeader: signatureHeader || null,
        deliveryIdHeader: deliveryIdHeader || null,
        createdAt: new Date(),
      };
      // Store the secret first, so that a hook that requires a signature never exists without it.
      const secret = {
        owner: secretsOf(record._id),
        name: SIGNATURE,
        value: signatureSecret,
        hosts: [],
        workflows: [],
        setBy: owner.userId,
      };
      if (record.signatureHeader !== null) await identity.putSecret(secret);
      try {
        return await insert(record, request.maxHooks ?? USUAL_CAPS.hooks);
      } catch (error) {
        await removeSecret(record);
        throw error;
      }
    },

    list: async (userId: string, workflowSlug?: string): Promise<HookRecord[]> => {
      await arrivals.ofOwner(userId);
      return store.list(userId, workflowSlug);
    },

    /** @throws NOT_FOUND */
    remove: async (userId: string, workflowSlug: string, id: string): Promise<void> => {
      const removed = await arrivals.find({ id }, () => store.remove(userId, workflowSlug, id));
      if (!removed) throw noSuchHook();
      await removeSecret(removed);
    },

    /**
     * Returns the hook of an address, and the account that it runs for.
     * @throws NOT_FOUND for every reason
     */
    find: async (secretHash: string): Promise<{ hook: HookRecord; runner: executions.Runner }> => {
      const hook = await arrivals.find({ secretHash }, () => store.findByHash(secretHash));
      if (!hook) throw noSuchHook();
      try {
        return { hook, runner: await owners.runner(hook, hook.workflowSlug) };
      } catch (error) {
        throw isRefusal(error) ? noSuchHook() : error;
      }
    },

    /**
     * Returns the secret that a hook's senders sign with.
     * @throws SERVICE_UNAVAILABLE if it can't be read
     */
    signatureSecret: async ({ _id }: HookRecord): Promise<string> => {
      const { values } = await identity.readSecrets({ owner: secretsOf(_id), names: [SIGNATURE] }).catch((error: unknown) => {
        logger.error({ err: error, hookId: _id }, "the secret of a hook could not be read");
        throw unavailable("signatures can't be checked right now");
      });
      const secret = values[SIGNATURE];
      if (secret === undefined) throw unavailable("signatures can't be checked right now");
      return secret;
    },
  };
};
