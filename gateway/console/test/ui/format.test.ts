import { ago, duration } from "../../src/ui/format";

const NOW = Date.parse("2026-05-04T12:00:00.000Z");
const before = (seconds: number): string => ago(new Date(NOW - seconds * 1_000).toISOString(), NOW);

it("a time that rounds to a whole unit is shown in that unit", () => {
  expect([59.4, 59.6, 90, 59.6 * 60, 23.7 * 3_600].map(before)).toEqual([
    "59 seconds ago",
    "1 minute ago",
    "1 minute ago",
    "1 hour ago",
    "yesterday",
  ]);
});

it("a duration never has 60 seconds", () => {
  expect([59_940, 59_960, 119_700].map(duration)).toEqual(["59.9 s", "1 min 0 s", "2 min 0 s"]);
});
