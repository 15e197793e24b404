import { credentialIssues } from "@nodeloom/kernel/credentials";

const node = (data: Record<string, unknown>) => ({ id: "web", type: "http-request", data });
const found = (data: Record<string, unknown>): string[] => credentialIssues({ nodes: [node(data)] }).map(({ message }) => message);
/** Not a key of any account: put together here, so that scanners of repositories find none. */
const made = (prefix: string, length: number): string =>
  prefix + Array.from({ length }, (_, index) => "aZ3kQ9xW7bT1mR5c"[(index * 7) % 16]).join("");

it.each<[string, Record<string, unknown>, string]>([
  ["a bearer token", { headers: { Authorization: `Bearer ${made("", 32)}` } }, "headers: Authorization"],
  ["a key of an API", { headers: { "X-Api-Key": made("", 24) } }, "headers: X-Api-Key"],
  [
    "basic credentials",
    { headers: { authorization: `Basic ${Buffer.from("user:a-password-9").toString("base64")}` } },
    "headers: authorization",
  ],
  ["a token of GitHub in any header", { headers: { "x-other": made("ghp_", 36) } }, "headers: x-other"],
  ["a key of Google in the query", { url: `https://x.test/?key=${made("AIza", 35)}` }, "url"],
  ["a webhook of Slack", { url: `https://hooks.slack.com/services/${made("T", 44)}` }, "url"],
  ["a key of Stripe in JSON", { body: { key: [made("sk_live_", 24)] } }, "body"],
  ["a key of Stripe in a text", { body: `key: ${made("sk_live_", 24)}` }, "body"],
])("finds %s, and says where, but not what", (_name, data, path) => {
  const messages = found(data);
  expect(messages).toEqual([expect.stringMatching(new RegExp(`^${path} looks like a credential`))]);
  expect(messages.join()).not.toContain("aZ3");
});

it.each<[string, Record<string, unknown>]>([
  ["secrets", { headers: { Authorization: "Bearer {{secrets.OPENAI_KEY}}" }, url: "https://x.test/?key={{secrets.GOOGLE_MAPS_KEY}}" }],
  [
    "placeholders",
    { headers: { Authorization: "Bearer {{token}}", "x-api-key": "{{the_key_of_the_caller}}" }, body: { token: "{{token}}" } },
  ],
  [
    "ordinary requests",
    { url: "https://api.example.com/v1/items/3f2b8c1e-6f0a-4f43-9d51-0a9be1c2d3e4?page=2", headers: { accept: "application/json" } },
  ],
  ["ordinary texts", { body: "Please write a key sentence about tokens and the secret of a good password." }],
  ["words of documentation", { headers: { Authorization: "Bearer of the author" } }],
  ["settings of any form", { url: 7, headers: ["x"], body: null }],
])("finds nothing in %s", (_name, data) => expect(found(data)).toEqual([]));

it("looks at HTTP nodes alone", () => {
  const text = { id: "t", type: "text-box", data: { text: made("ghp_", 36), headers: { a: made("ghp_", 36) } } };
  expect(credentialIssues({ nodes: [text] })).toEqual([]);
});

it("bounds its work, whatever a graph has", () => {
  const body = "adafruit adobe airtable algolia alibaba asana atlassian beamer bitbucket codecov datadog ".repeat(100);
  const nodes = Array.from({ length: 500 }, (_, index) => ({ ...node({ body: `${index} ${body}` }), id: `n${index}` }));
  const began = process.cpuUsage();
  credentialIssues({ nodes });
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000);
});
