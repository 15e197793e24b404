import { createMediaUrls } from "../src";

const BASE = "https://loom.test";
const KEY = `${"0a".repeat(16)}.png`;
const ADDRESS = `${BASE}/media/${KEY}`;
const SIGNED = `${ADDRESS}?e=1&s=x`;
const urls = createMediaUrls(`${BASE}/`);
const queries = new Map([[KEY, "e=2&s=y"]]);

it("signs the addresses of the platform's files in a text, and removes the signatures", () => {
  const text = JSON.stringify({ a: ADDRESS, b: [`see ${ADDRESS}, please`], c: `/media/${KEY}` });
  const signed = urls.signed(text, queries);
  expect(signed).toBe(text.replaceAll(KEY, `${KEY}?e=2&s=y`));
  expect(urls.unsigned(signed).text).toBe(text);
  expect(urls.unsigned(signed).urls).toEqual(Array.from({ length: 3 }, () => ({ key: KEY, expires: "2", signature: "y" })));
});

it.each([
  ["slashes", `"https:\\/\\/loom.test\\/media\\/${KEY}?e=1&s=x"`, `"https:\\/\\/loom.test\\/media\\/${KEY}"`],
  ["the signs of the query", `"${ADDRESS}\\u003fe\\u003d1\\u0026s\\u003dx"`, `"${ADDRESS}"`],
  ["for HTML", `"<img src='${ADDRESS}?e=1&amp;s=x'>"`, `"<img src='${ADDRESS}'>"`],
])("recognizes signatures where the text escapes %s", (_, sentText, plain) => {
  expect(urls.unsigned(sentText)).toEqual({ text: plain, urls: [{ key: KEY, expires: "1", signature: "x" }] });
});

it("replaces an earlier signature, and keeps the other parameters", () => {
  expect(urls.signed(`"${SIGNED}&w=96"`, queries)).toBe(`"${ADDRESS}?e=2&s=y&w=96"`);
  expect(urls.unsigned(`"${ADDRESS}?w=96&e=1&s=x"`).text).toBe(`"${ADDRESS}?w=96"`);
});

it.each([
  `"https://elsewhere.test/media/${KEY}?e=1&s=x"`,
  `"${BASE}.elsewhere.test/media/${KEY}?e=1&s=x"`,
  `"${BASE}/media/short.png?e=1&s=x"`,
  `"${ADDRESS}-x?e=1&s=x"`,
  `"${ADDRESS}.exe?e=1&s=x"`,
])("doesn't change other addresses: %s", (text) => {
  expect(urls.unsigned(text)).toEqual({ text, urls: [] });
  expect(urls.signed(text, queries)).toBe(text);
});

it("keeps the text byte for byte if nothing is signed", () => {
  const text = `{"n": 1.50, "url" : "${ADDRESS}"}`;
  expect(urls.unsigned(text).text).toBe(text);
});

describe("after the platform moved from other addresses", () => {
  const OLD = "http://old.loom.test:8080/studio";
  const moved = createMediaUrls(BASE, [`${OLD}/`, "https://older.test", BASE]);

  it.each([
    ["an address", `"${OLD}/media/${KEY}"`, `"${ADDRESS}"`],
    ["an address with a signature", `"https://older.test/media/${KEY}?e=1&s=x"`, `"${SIGNED}"`],
    ["escaped slashes", String.raw`"https:\/\/older.test\/media\/${KEY}"`, String.raw`"${BASE}\/media\/${KEY}"`],
    ["an address in a text", String.raw`"a file:\nhttps://older.test/media/${KEY}"`, String.raw`"a file:\n${ADDRESS}"`],
    ["a current address", `"${SIGNED}"`, `"${SIGNED}"`],
  ])("moves %s to the current address", (_, stored, current) => {
    expect(moved.current(stored)).toBe(current);
  });

  it.each([
    `"https://older.test.elsewhere.test/media/${KEY}"`,
    `"https://not-older.test/media/${KEY}"`,
    `"https://older.test:444/media/${KEY}"`,
    `"https://older.test@elsewhere.test/media/${KEY}"`,
    `"https://older.test/other/media/${KEY}"`,
    `"https://older.test/media/report.png"`,
    `"https://elsewhere.test/https://older.test/media/${KEY}"`,
    `"https://elsewhere.test/?u=https://older.test/media/${KEY}"`,
    `"https://elsewhere.test/media/${KEY}"`,
    `"http://older.test/media/${KEY}"`,
  ])("never touches a look-alike of a former address: %s", (text) => {
    expect(moved.current(text)).toBe(text);
    expect(moved.signed(text, queries)).toBe(text);
  });

  it("doesn't know other addresses without a list of them", () => {
    const text = `"https://older.test/media/${KEY}"`;
    expect(urls.current(text)).toBe(text);
  });
});
