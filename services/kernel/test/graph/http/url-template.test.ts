import { httpProblems } from "../../../src/graph/http/http-call";
import { fillUrl } from "../../../src/graph/http/url-template";

const filled = (template: string, values: Readonly<Record<string, unknown>>): string => fillUrl(template, (name) => values[name]);

it.each([
  ["https://x.test/users/{{id}}/avatar", { id: "a b/c?d#e&f" }, "https://x.test/users/a%20b%2Fc%3Fd%23e%26f/avatar"],
  ["https://x.test/a?q={{q}}&r={{r}}", { q: "1&admin=1#", r: ".." }, "https://x.test/a?q=1%26admin%3D1%23&r=.."],
  ["https://x.test/a#{{x}}", { x: "../b" }, "https://x.test/a#..%2Fb"],
  ["https://x.test/{{name}}", { name: "..hidden" }, "https://x.test/..hidden"],
  ["https://x.test/v{{n}}.{{m}}/x", { n: 1, m: 2 }, "https://x.test/v1.2/x"],
  ["https://x.test/../{{id}}", { id: 1 }, "https://x.test/../1"],
  ["https://{{tenant}}.x.test:{{port}}/a", { tenant: "blue-1", port: 8443 }, "https://blue-1.x.test:8443/a"],
  ["{{url}}", { url: "https://x.test/../a?b#c" }, "https://x.test/../a?b#c"],
  ["{{base}}{{path}}?q={{q}}", { base: "https://x.test", path: "/a/b", q: "a&b" }, "https://x.test/a/b?q=a%26b"],
  ["{{base}}/users/{{id}}", { base: "https://x.test/v1", id: "a/b" }, "https://x.test/v1/users/a%2Fb"],
  ["https://x.test/{{x}}", { x: "\ud800" }, "https://x.test/%EF%BF%BD"],
  ["https://x.test/{{x}}", { x: "50%" }, "https://x.test/50%25"],
])("%s is filled in place", (template, values, url) => {
  expect(filled(template, values)).toBe(url);
});

it.each([
  ["..", "/users/{{id}}/x"],
  [".", "/users/{{id}}/x"],
  ["%2e%2e", "/users/{{id}}/x"],
  ["%252E.", "/users/{{id}}"],
  ["../../admin", "/users/{{id}}"],
  ["a/../../admin", "/users/{{id}}"],
  ["..\\admin", "/users/{{id}}"],
  ["..%2fadmin", "/users/{{id}}"],
  ["%2e%2e%5cadmin", "/users/{{id}}"],
  ["..;/admin", "/users/{{id}}"],
  [".\t.", "/users/{{id}}"],
  [".", "/users/.{{id}}/x"],
  [".", "/users/{{id}}{{id}}/x"],
  [".", "/users/{{id}}%2e/x"],
  ["e", "/users/%2{{id}}%2e/x"],
  ["%2e%2e%2f%", "/users/{{id}}"],
])("%j doesn't leave its segment of %s", (id, path) => {
  expect(() => filled(`https://x.test${path}`, { id })).toThrow(/^url: \{\{id\}\}.* must not be or become \. or \.\./);
  expect(() => filled(`{{base}}${path}`, { id, base: "https://x.test" })).toThrow(/must not be or become \. or \.\./);
});

it.each(["evil.test/", "a@evil.test", "evil.test#", "evil.test?", "x:80", "evil.test\\", "[::1]", "a b", "%2e"])(
  "%j does not leave the host",
  (x) => {
    expect(() => filled("https://{{x}}.example.test/a", { x })).toThrow(/^url: \{\{x\}\} is part of the host/);
  },
);

it("never exceeds the limit of a text", () => {
  const values = { a: "x".repeat(200_000) };
  expect(() => filled("https://x.test/{{a}}/{{a}}", values)).toThrow(/url: would be longer than/);
});

it.each(["https://example.test{{path}}", "https://example.test{{ path }}:443/a", "https://example.test{{path}}?a=1"])(
  "a placeholder that would extend the host is an error of the graph: %s",
  (url) => {
    expect(httpProblems({ url }, undefined)).toEqual(["url: {{path}} would extend the host: put a / before it"]);
  },
);

it.each(["https://api.{{domain}}/a", "https://{{host}}/a", "https://x.test:{{port}}/a", "{{base}}{{path}}", "https://x.test/{{a}}{{b}}"])(
  "a placeholder can be a whole part of the URL: %s",
  (url) => {
    expect(httpProblems({ url }, undefined)).toEqual([]);
  },
);

it.each(["/*", "/items/*/title", "/*/0"])("extract explains why %s isn't a JSON pointer", (extract) => {
  expect(httpProblems({ url: "https://x.test", extract }, undefined)).toEqual([
    expect.stringMatching(/^extract: \* has no meaning in a JSON pointer/),
  ]);
});

it("extract can name a member with a star", () => {
  expect(httpProblems({ url: "https://x.test", extract: "/a*b/0" }, undefined)).toEqual([]);
});
