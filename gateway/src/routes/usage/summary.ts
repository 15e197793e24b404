import { invalidRequest, LIMITS, toCredits } from "@nodeloom/kernel";
import type { usage } from "@nodeloom/proto";
import { z } from "zod";
import { content, defineRoute, STREAMED } from "../../edge/route";
import { credits, listQuery } from "../../http/schemas";
import { groupBy, groups, groupsCsv, readGroups } from "./groups";

const CSV = "text/csv";
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Default range in days. */
const DEFAULT_DAYS = 30;
const SOURCES = ["api-slim", "api-workflow", "canvas", "test"] as const;

const day = z.iso.date().meta({ example: "2026-05-04" });
const sum = { runs: z.number().int(), creditsCost: credits };
const summary = z
  .object({
    from: day,
    to: day,
    ...sum,
    days: z
      .array(
        z.object({
          day,
          ...sum,
          models: z.array(
            z.object({ model: z.string(), runs: sum.runs.meta({ description: "Number of runs that used it" }), creditsCost: credits }),
          ),
        }),
      )
      .meta({ description: "Oldest first; days without runs are left out" }),
    groups: groups.optional(),
  })
  .meta({ id: "UsageSummary" });
type Summary = z.infer<typeof summary>;
type Day = Summary["days"][number];

/** Day in UTC, as in the rows. */
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, "YYYY-MM-DD".length);

/** The range, including both days. @throws INVALID_REQUEST if it is too long */
const rangeOf = ({ from, to }: { from?: string | undefined; to?: string | undefined }): Pick<Summary, "from" | "to"> => {
  const last = to ?? dayOf(from === undefined ? Date.now() : Math.max(Date.now(), Date.parse(from)));
  const first = from ?? dayOf(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS);
  if (Date.parse(last) - Date.parse(first) < LIMITS.usageSummaryDays * DAY_MS) return { from: first, to: last };
  const message = `must be less than ${LIMITS.usageSummaryDays} days before ${to === undefined ? "today" : "to"}`;
  throw invalidRequest([{ path: "from", message }]);
};

/** Daily sums. Sums without a model cover all runs of the day. */
const daysOf = (sums: readonly usage.DailySum[]): Day[] => {
  const days = new Map<string, Day>();
  for (const { day: name, model, runs, millicredits } of sums) {
    const daySum = days.get(name) ?? { day: name, runs: 0, creditsCost: 0, models: [] };
    const creditsCost = toCredits(millicredits);
    if (model === "") days.set(name, { ...daySum, runs, creditsCost });
    else days.set(name, { ...daySum, models: [...daySum.models, { model, runs, creditsCost }] });
  }
  return [...days.values()];
};

export const usageSummaryRoute = defineRoute({
  method: "GET",
  path: "/api/usage/summary",
  operationId: "getUsageSummary",
  summary: "Get the cost of the caller's runs, by day and model or by another group",
  description: `Includes runs from the editor, unless you set \`source\`. A run counts on the day (UTC) on which it began. Default: the last ${DEFAULT_DAYS} days; at most ${LIMITS.usageSummaryDays} days. By workflow, key or metadata, at most ${LIMITS.usageGroupedRuns} runs are added up at once. \`format=csv\` returns a table of the groups, by day unless you set \`groupBy\`.`,
  tag: "Usage",
  auth: "any",
  role: "viewer",
  limit: "user",
  query: listQuery(
    z
      .object({
        from: day.optional(),
        to: day.optional(),
        source: z.enum(SOURCES).optional(),
        groupBy: groupBy.optional(),
        format: z.enum(["json", "csv"]).default("json"),
      })
      .refine(({ from, to }) => from === undefined || to === undefined || from <= to, { path: ["to"], message: "must not be before from" }),
  ),
  responses: { 200: content({ "application/json": summary, [CSV]: z.string() }) },
  handler: async ({ gateway, caller, query, response }) => {
    const { from, to } = rangeOf(query);
    const request = { userId: caller.user.id, fromDay: from, toDay: to, sources: query.source ? [query.source] : [...SOURCES] };
    const { sums } = await gateway.services.usage.listDailySums(request);
    const all = sums.filter(({ model }) => model === "");
    const total = (member: "runs" | "millicredits"): number => all.reduce((added, one) => added + one[member], 0);
    const isTable = query.format === "csv";
    const by = query.groupBy ?? (isTable ? "day" : undefined);
    const grouped = by === undefined ? undefined : await readGroups(gateway, by, request, sums);
    if (isTable && by !== undefined && grouped) {
      const name = `usage-${by.replace(/[^a-z0-9.-]/gi, "_")}-${from}-${to}.csv`;
      response.status(200).set({ "Content-Type": `${CSV}; charset=utf-8`, "Content-Disposition": `attachment; filename="${name}"` });
      response.end(groupsCsv(by, grouped));
      return STREAMED;
    }
    const body: Summary = {
      from,
      to,
      runs: total("runs"),
      creditsCost: toCredits(total("millicredits")),
      days: daysOf(sums),
      groups: grouped,
    };
    return { status: 200, body };
  },
});
