/** Sums of runs by group, as JSON and CSV. */
import { RUN_METADATA, toCredits } from "@nodeloom/kernel";
import type { usage } from "@nodeloom/proto";
import { stringify } from "csv-stringify/sync";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { USAGE_GROUPS_MS } from "../../http/limits";
import { credits } from "../../http/schemas";
import { keyNames } from "../keys/names";
import { metadataName } from "../runs/schemas";

const OF_METADATA = "metadata.";
const FIXED = ["day", "model", "workflow", "key"] as const;

export const groupBy = z
  .string()
  .refine(
    (by) =>
      (FIXED as readonly string[]).includes(by) ||
      (by.startsWith(OF_METADATA) && metadataName.safeParse(by.slice(OF_METADATA.length)).success),
    `must be one of: ${FIXED.join(", ")}, metadata.<name>`,
  )
  .meta({
    description: "`day`, `model`, `workflow`, `key` or `metadata.<name>`: adds `groups`",
    example: "metadata.customer",
    override: { pattern: `^(day|model|workflow|key|metadata\\..{1,${RUN_METADATA.nameChars}})$` },
  });

export const groups = z
  .array(
    z.object({
      group: z.string().nullable().meta({
        description: "A day, a model, a slug, a key's id or a value of metadata; null for runs that have none: of no workflow, by no key",
      }),
      name: z.string().nullable().optional().meta({ description: "Only by `key`: the name of the key, also of a deleted one" }),
      runs: z.number().int(),
      creditsCost: credits,
    }),
  )
  .meta({ description: "Only with `groupBy`. Days are in order; other groups are sorted by cost, highest first" });
export type Groups = z.infer<typeof groups>;

export type UsageQuery = Pick<usage.ListDailySumsRequest, "userId" | "fromDay" | "toDay" | "sources">;

const ofDays = (sums: readonly usage.DailySum[]): Groups =>
  sums
    .filter(({ model }) => model === "")
    .map(({ day, runs, millicredits }) => ({ group: day, runs, creditsCost: toCredits(millicredits) }));

const ofModels = (sums: readonly usage.DailySum[]): Groups => {
  const byModel = new Map<string, { runs: number; millicredits: number }>();
  for (const { model, runs, millicredits } of sums) {
    const sum = byModel.get(model) ?? { runs: 0, millicredits: 0 };
    if (model !== "") byModel.set(model, { runs: sum.runs + runs, millicredits: sum.millicredits + millicredits });
  }
  return [...byModel]
    .sort(([, one], [, other]) => other.millicredits - one.millicredits)
    .map(([group, { runs, millicredits }]) => ({ group, runs, creditsCost: toCredits(millicredits) }));
};

/** @param days the same runs by day and model */
export const readGroups = async (
  { services }: Gateway,
  by: string,
  groupQuery: UsageQuery,
  days: readonly usage.DailySum[],
): Promise<Groups> => {
  if (by === "day") return ofDays(days);
  if (by === "model") return ofModels(days);
  const name = by.startsWith(OF_METADATA) ? by.slice(OF_METADATA.length) : "";
  const request = { ...groupQuery, by: name === "" ? by : "metadata", name };
  const { sums } = await services.usage.listGroupSums(request, { deadlineMs: USAGE_GROUPS_MS });
  const rows = sums.map(({ group, runs, millicredits }) => ({ group: group ?? null, runs, creditsCost: toCredits(millicredits) }));
  if (by !== "key") return rows;
  const names = await keyNames({ services }, groupQuery.userId);
  return rows.map(({ group, ...row }) => ({ group, name: names.get(group ?? "") ?? null, ...row }));
};

/** A line per group. Spreadsheets would treat a cell that starts with = as a formula. */
export const groupsCsv = (by: string, rows: Groups): string =>
  stringify(
    rows.map(({ group, name, runs, creditsCost }) => [group ?? "", runs, creditsCost, ...(by === "key" ? [name ?? ""] : [])]),
    { header: true, columns: [by, "runs", "creditsCost", ...(by === "key" ? ["name"] : [])], escape_formulas: true },
  );
