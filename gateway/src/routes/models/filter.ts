import { MODALITIES } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";

const MAX_QUERY_CHARS = 200;
const MAX_COMPANY_CHARS = 100;

export const modelFilter = z.object({
  q: z.string().max(MAX_QUERY_CHARS).optional().describe("Words to find in its name, description or provider"),
  modality: z.enum(MODALITIES).optional().describe("Kind of its output"),
  provider: z.string().min(1).max(MAX_COMPANY_CHARS).optional().describe("Provider, for example `fal`"),
});

const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

export const isListed = (
  { internalName, displayName, description, modality, company }: models.Model,
  filter: z.infer<typeof modelFilter>,
): boolean => {
  const text = `${internalName} ${displayName} ${description} ${company}`.toLowerCase();
  return (
    (filter.modality === undefined || filter.modality === modality) &&
    (filter.provider === undefined || filter.provider === company) &&
    wordsOf(filter.q ?? "").every((word) => text.includes(word))
  );
};
