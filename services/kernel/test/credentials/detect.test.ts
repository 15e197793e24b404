import { credentialIssues } from "@nodeloom/kernel/credentials";

const node = (data: Record<string, unknown>) => ({ id: "web", type: "http-request", data });
const messagesFor = (data: Record<string, unknown>): string[] => credentialIssues({ nodes: [node(data)] }).map(({ message }) => message);
/** A fake key. It is assembled here so that secret scanners don't report this file. */
const keyOf = (prefix: string, length: number): string =>
  prefix + Array.from({ length }, (_, index) => "aZ3kQ9xW7bT1mR5c"[(index * 7) % 16]).join("");

it.each<[string, Record<string, unknown>, string]>([
  ["a bearer token", { headers: { Authorization: `Bearer ${keyOf("", 32)}` } }, "headers: Authorization"],
  ["a key of an API", { headers: { "X-Api-Key": keyOf("", 24) } }, "headers: X-Api-Key"],
  [
    "basic credentials",
    { headers: { authorization: `Basic ${Buffer.from("user:a-password-9").toString("base64")}` } },
    "headers: authorization",
  ],
  ["a token of GitHub in any header", { headers: { "x-other": keyOf("ghp_", 36) } }, "headers: x-other"],
  ["a key of Google in the query", { url: `https://x.test/?key=${keyOf("AIza", 35)}` }, "url"],
  ["a webhook of Slack", { url: `https://hooks.slack.com/services/${keyOf("T", 44)}` }, "url"],
  ["a key of Stripe in JSON", { body: { key: [keyOf("sk_live_", 24)] } }, "body"],
  ["a key of Stripe in a text", { body: `key: ${keyOf("sk_live_", 24)}` }, "body"],
  ["a key between other parameters", { url: `https://x.test/?a=1&k=${keyOf("sk-", 20)}T3BlbkFJ${keyOf("", 20)}&b=2` }, "url"],
  ["a token of Slack in a form", { body: `token=${keyOf("xoxb-123456789012-123456789012-", 24)}&channel=C1` }, "body"],
  ["what a parameter says is a key", { url: `https://x.test/?q=loom&api_key=${keyOf("", 32)}&page=2` }, "url"],
  ["what a header says is a key", { headers: { "xi-api-key": keyOf("sk_", 32) } }, "headers: xi-api-key"],
  ["what a member says is a key", { body: { nested: [{ aws_secret_access_key: keyOf("", 40) }] } }, "body"],
  ["a scheme of its own", { headers: { Authorization: `Key ${keyOf("", 8)}:${keyOf("", 32)}` } }, "headers: Authorization"],
  ["a password in an address", { url: `https://ada:${keyOf("", 12)}@x.test:8443/v1` }, "url"],
  ["a password in the address of a database", { body: { dsn: `postgres://loom:${keyOf("", 12)}@db.test/loom` } }, "body"],
  ["a key of this platform", { body: `${keyOf("nl_live_", 30)}_${keyOf("", 6)}` }, "body"],
  ["a token of Replicate", { body: { k: keyOf("r8_", 37) } }, "body"],
  ["a webhook of Discord", { url: `https://discord.com/api/webhooks/123456789012345678/${keyOf("", 68)}` }, "url"],
  ["a bot of Telegram", { url: `https://api.telegram.org/bot1234567890:${keyOf("", 35)}/sendMessage` }, "url"],
  ["a signature of Azure", { url: `https://x.test/c/f?sp=r&sig=${keyOf("", 43)}%3D` }, "url"],
])("finds %s, and reports the location, but not the value", (_name, data, path) => {
  const messages = messagesFor(data);
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
  [
    "names and words in addresses",
    { url: "https://x.test/?key=customer_number&page_token=next&sig=none#api_key=x", headers: { "content-type": "text/plain" } },
  ],
  ["placeholders in an address", { url: "https://{{user}}:{{secrets.PASSWORD}}@x.test/?api_key={{secrets.KEY}}&access_token={{token}}" }],
  ["a user without a password", { url: "https://ada@x.test/", body: "mail ada@x.test: the time is 10:30 @ home" }],
  ["words of documentation", { headers: { Authorization: "Bearer of the author" } }],
  ["settings of any form", { url: 7, headers: ["x"], body: null }],
])("finds nothing in %s", (_name, data) => expect(messagesFor(data)).toEqual([]));

it("checks only HTTP nodes", () => {
  const text = { id: "t", type: "text-box", data: { text: keyOf("ghp_", 36), headers: { a: keyOf("ghp_", 36) } } };
  expect(credentialIssues({ nodes: [text] })).toEqual([]);
});

it("limits its work for any graph: ten times the nodes take about the same time", () => {
  const body = "adafruit adobe airtable algolia alibaba asana atlassian beamer bitbucket codecov datadog ".repeat(100);
  const url = `https://x.test/?${"api_key=none&".repeat(2_000)}${"://a:".repeat(2_000)}`;
  const headers = { Authorization: `Key ${"a:".repeat(50_000)} ` };
  const nodesOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...node({ body: `${index} ${body}`, url, headers }), id: `n${index}` }));
  const timeOf = (count: number): number => {
    const nodes = nodesOf(count);
    const began = performance.now();
    credentialIssues({ nodes });
    return performance.now() - began;
  };
  const shortest = (count: number): number => Math.min(...Array.from({ length: 5 }, () => timeOf(count)));
  expect(shortest(500)).toBeLessThan(4 * shortest(50));
});
