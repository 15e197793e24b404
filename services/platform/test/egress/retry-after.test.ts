import { parseRetryAfter } from "../../src/egress/retry-after";

const NOW = Date.parse("Wed, 21 Oct 2026 07:28:00 GMT");

it.each([
  ["120", 120_000],
  [" 0 ", 0],
  ["1.5", 1_500],
  ["Wed, 21 Oct 2026 07:28:30 GMT", 30_000],
  ["Wed, 21 Oct 2026 07:00:00 GMT", 0],
  [undefined, undefined],
  ["", undefined],
  ["soon", undefined],
  ["-5", undefined],
  ["2030", 2_030_000],
  ["1e9", undefined],
  ["Infinity", undefined],
])("reads Retry-After %j as a pause of %p ms", (header, pause) => {
  expect(parseRetryAfter(header, NOW)).toBe(pause);
});
