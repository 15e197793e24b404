import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expiresBefore, RETENTION, type RetentionPeriod } from "../src/retention";

const periodText = (period: RetentionPeriod): string => {
  if (period === "forever") return "for ever";
  if ("days" in period) return period.days === 1 ? "1 day" : `${period.days} days`;
  return "months" in period ? `${period.months} months` : `as long as \`${period.with}\``;
};

it("the operator's page states the retention of everything as in the table", () => {
  const page = readFileSync(join(__dirname, "../../../docs/operations/retention.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)].map(([, what, period]) => [what, period]);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(RETENTION).map(([what, period]) => [what, periodText(period)])),
  );
});

it.each([
  ["days", { days: 90 }, "2026-11-22T10:00:00.000Z", "2026-08-24T10:00:00.000Z"],
  ["months", { months: 25 }, "2026-11-22T10:00:00.000Z", "2024-10-22T10:00:00.000Z"],
  ["months to one that has no such day", { months: 1 }, "2026-03-31T10:00:00.000Z", "2026-02-28T10:00:00.000Z"],
])("counts %s back from now", (_, period, now, before) => {
  expect(expiresBefore(period as { days: number }, new Date(now)).toISOString()).toBe(before);
});
