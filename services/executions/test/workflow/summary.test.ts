import { plainSummary } from "../../src/workflow/workflows/calls/schedule";

it.each([
  ["[open](javascript:alert(1)): sandbox-image", "\\[open\\]\\(javascript:alert\\(1\\)\\): sandbox-image"],
  ["<img src=x onerror=alert(1)>: m", "\\<img src=x onerror=alert\\(1\\)\\>: m"],
  ["**bold** `code` a_b", "\\*\\*bold\\*\\* \\`code\\` a\\_b"],
  ["a\r\n# b\u202e", "a \\# b "],
  ["node-1: sandbox-image", "node-1: sandbox-image"],
])("users' names of a node are plain text in Temporal's UI: %j", (text, summary) => {
  expect(plainSummary(text)).toBe(summary);
});

it("is never longer than Temporal allows", () => {
  for (const letter of ["a", "*", "😀", "\u202e"]) expect(Buffer.byteLength(plainSummary(letter.repeat(5_000)))).toBeLessThanOrEqual(400);
});
