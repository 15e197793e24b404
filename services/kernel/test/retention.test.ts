import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expiresBefore, RETENTION, type Kept } from "../src/retention";

const said = (kept: Kept): string => {
  if (kept === "forever") return "for ever";
  if ("days" in kept) return kept.days === 1 ? "1 day" : `${kept.days} days`;
  return "months" in kept ? `${kept.months} months` : `as long as \`${kept.with}\``;
};

it("the operator's page states the retention of everything as in the table", () => {
  const page = readFileSync(join(__dirname, "../../../docs/operations/retention.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)].map(([, what, kept]) => [what, kept]);
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(Object.entries(RETENTION).map(([what, kept]) => [what, said(kept)])));
});

it.each([
  ["days", { days: 90 }, "2026-11-22T10:00:00.000Z", "2026-08-24T10:00:00.000Z"],
  ["months", { months: 25 }, "2026-11-22T10:00:00.000Z", "2024-10-22T10:00:00.000Z"],
  ["months to one that has no such day", { months: 1 }, "2026-03-31T10:00:00.000Z", "2026-02-28T10:00:00.000Z"],
])("counts %s back from now", (_, kept, now, before) => {
  expect(expiresBefore(kept as { days: number }, new Date(now)).toISOString()).toBe(before);
});
