import { isSlug } from "@nodeloom/kernel";
import { z } from "zod";

/** What an entry says of its provider's own publications: who runs the model, and when its id and price were read, and where. */

const text = z.string().min(1);

export const published = {
  /** Who runs it, for example fal or runway. */
  company: z.string().refine(isSlug, "must be lowercase letters, digits and single hyphens").optional(),
  /** The day on which id and price were read. */
  asOf: z.iso.date().optional(),
  /** Where they were read. */
  source: text.optional(),
  /** The day on which the provider will shut the model down. */
  retiresOn: z.iso.date().optional(),
};

interface Published {
  company?: string | undefined;
  sandbox: boolean;
  runsAt: "provider" | "local";
  provider: { baseUrl: string };
}

/** Who runs a model; of entries that don't say so, the host that is called. */
export const companyOf = ({ company, sandbox, runsAt, provider }: Published): string => {
  if (company !== undefined) return company;
  if (sandbox) return "sandbox";
  if (runsAt === "local") return "local";
  return URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).hostname : "unknown";
};

/** Whether the day on which a model is shut down has come. @param now milliseconds since 1970 */
export const isRetired = ({ retiresOn }: { retiresOn?: string | undefined }, now: number): boolean =>
  retiresOn !== undefined && now >= Date.parse(retiresOn);
