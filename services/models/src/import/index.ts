import { DomainError, invalidRequest } from "@nodeloom/kernel";
import type { EgressClient } from "@nodeloom/platform";
import { falDraft } from "./fal";
import { ImportProblem, type Auth, type Draft, type ImportRequest, type PublicDescriptions } from "./draft";
import { openRouterDraft } from "./openrouter";
import { replicateDraft } from "./replicate";

/** Creates entries from providers' public descriptions of their models. */

export const IMPORTED = ["fal", "replicate", "openrouter"] as const;
export type ImportedProvider = (typeof IMPORTED)[number];

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 16 * 1_024 * 1_024;
const NOT_FOUND = 404;

const DRAFTS: Readonly<Record<ImportedProvider, (request: ImportRequest, published: PublicDescriptions) => Promise<Draft>>> = {
  fal: falDraft,
  replicate: replicateDraft,
  openrouter: openRouterDraft,
};

export interface ImporterOptions {
  egress: Pick<EgressClient, "request">;
  /** Returns the value of a provider key from the environment or the console. */
  secret: (name: string) => Promise<string | undefined>;
  now?: () => number;
}

export type Importer = ReturnType<typeof createImporter>;

/** @returns a function that creates drafts. @throws DomainError INVALID_REQUEST, PRECONDITION_FAILED, SERVICE_UNAVAILABLE */
export const createImporter = ({ egress, secret, now = Date.now }: ImporterOptions) => {
  const json = async (address: string, auth?: Auth): Promise<unknown> => {
    const { host } = new URL(address);
    const key = auth && (await secret(auth.secretEnv));
    if (auth && !key)
      throw new DomainError(
        "precondition",
        "PRECONDITION_FAILED",
        `${host} requires a key: add ${auth.secretEnv} under Models, or set it in the environment`,
      );
    const headers = { accept: "application/json", ...(auth ? { [auth.header]: `${auth.scheme} ${key}` } : {}) };
    try {
      const { status, body } = await egress.request({ url: address, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
      if (status === NOT_FOUND) throw invalidRequest([{ path: "app", message: `${host} does not know it` }]);
      if (status < 200 || status >= 300) throw new Error(`answered ${status}`);
      return JSON.parse(body.toString()) as unknown;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", `${host} could not be asked: ${(error as Error).message}`, {
        retryAfter: 10,
      });
    }
  };

  return async (provider: ImportedProvider, request: Omit<ImportRequest, "now">): Promise<Draft> => {
    try {
      return await DRAFTS[provider]({ ...request, now: now() }, { json });
    } catch (error) {
      if (error instanceof ImportProblem) throw invalidRequest([error.issue]);
      throw error;
    }
  };
};
