import { isSlug } from "@nodeloom/kernel";
import { z } from "zod";

/** Provider data of an entry: the company that runs the model, and when and where its id and price were read. */

const text = z.string().min(1);

export const published = {
  /** Company that runs the model, for example fal or runway. */
  company: z.string().refine(isSlug, "must be lowercase letters, digits and single hyphens").optional(),
  /** Date on which id and price were read. */
  asOf: z.iso.date().optional(),
  /** Where id and price were read. */
  source: text.optional(),
  /** Date on which the provider shuts the model down. */
  retiresOn: z.iso.date().optional(),
  /** True if the model no longer runs. Until then `retiresOn` only warns. */
  retired: z.boolean().optional(),
  /** Model to use instead. */
  successor: z.string().refine(isSlug, "must be the internalName of a model").optional(),
};

interface PublishedModel {
  company?: string | undefined;
  sandbox: boolean;
  runsAt: "provider" | "local";
  provider: { baseUrl: string };
}

/** Returns the company that runs a model. If the entry has no company, returns the called host. */
export const companyOf = ({ company, sandbox, runsAt, provider }: PublishedModel): string => {
  if (company !== undefined) return company;
  if (sandbox) return "sandbox";
  if (runsAt === "local") return "local";
  return URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).hostname : "unknown";
};

/** @param now milliseconds since the epoch */
export const isRetired = ({ retiresOn }: { retiresOn?: string | undefined }, now: number): boolean =>
  retiresOn !== undefined && now >= Date.parse(retiresOn);
