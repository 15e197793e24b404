import { isSlug } from "@nodeloom/kernel";
import { z } from "zod";

/** The provider facts of an entry: who runs the model, and when and where its id and price were read. */

const text = z.string().min(1);

export const published = {
  /** The company that runs it, for example fal or runway. */
  company: z.string().refine(isSlug, "must be lowercase letters, digits and single hyphens").optional(),
  /** The date on which id and price were read. */
  asOf: z.iso.date().optional(),
  /** Where they were read. */
  source: text.optional(),
  /** The date on which the provider shuts the model down. */
  retiresOn: z.iso.date().optional(),
  /** It no longer runs. Until then `retiresOn` only warns. */
  retired: z.boolean().optional(),
  /** The model to use in its place. */
  successor: z.string().refine(isSlug, "must be the internalName of a model").optional(),
};

interface Published {
  company?: string | undefined;
  sandbox: boolean;
  runsAt: "provider" | "local";
  provider: { baseUrl: string };
}

/** The company that runs a model; the called host if the entry names none. */
export const companyOf = ({ company, sandbox, runsAt, provider }: Published): string => {
  if (company !== undefined) return company;
  if (sandbox) return "sandbox";
  if (runsAt === "local") return "local";
  return URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).hostname : "unknown";
};

/** @param now milliseconds since 1970 */
export const isRetired = ({ retiresOn }: { retiresOn?: string | undefined }, now: number): boolean =>
  retiresOn !== undefined && now >= Date.parse(retiresOn);
