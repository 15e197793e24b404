import { readDocGraph, readNode, sameGraph } from "../../src/document/graph";
import { mergeGraphs } from "../../src/document/merge";
import { isExpired } from "../../src/document/signatures";
import { safeUrl } from "../../src/media/url";

beforeAll(() => Object.assign(globalThis, { location: { origin: "http://console.test" }, GATEWAY_ORIGIN: "" }));

const urlOf = (digit: string): string => `http://console.test/media/${digit.repeat(32)}.png`;
const signed = (url: string, expires: number): string => `${url}?e=${expires}&s=signature-of-${expires}`;
const graphOf = (...urls: string[]) =>
  readDocGraph(JSON.stringify(urls.map((url, at) => ({ id: `n${at}`, type: "image", position: { x: 0, y: 0 }, data: { url } }))), "[]");

it("compares and merges documents as if addresses had no signatures", () => {
  const [first, hourLater] = [graphOf(signed(urlOf("1"), 1_000)), graphOf(signed(urlOf("1"), 4_600))];
  expect(sameGraph(first, hourLater)).toBe(true);
  const theirs = graphOf(signed(urlOf("1"), 4_600), signed(urlOf("2"), 4_600));
  expect(mergeGraphs(first, hourLater, theirs)).toEqual({ graph: theirs, conflicts: [] });
  expect(JSON.stringify(theirs)).not.toContain("?e=");
});

it("keeps the signatures out of nodes that get an address later", () => {
  const node = readNode(JSON.stringify({ id: "a", type: "image", data: { url: signed(urlOf("3"), 1_000) } }))!;
  expect(node.data).toEqual({ url: urlOf("3") });
});

it("shows the file of a document by the newest address that the page has seen", () => {
  expect(safeUrl(urlOf("4"))).toBe(urlOf("4"));
  graphOf(signed(urlOf("4"), 4_600), signed(urlOf("4"), 1_000));
  expect(safeUrl(urlOf("4"))).toBe(signed(urlOf("4"), 4_600));
  expect(safeUrl(signed(urlOf("4"), 1_000))).toBe(signed(urlOf("4"), 4_600));
  expect(safeUrl(signed(urlOf("4"), 8_200))).toBe(signed(urlOf("4"), 8_200));
});

it("knows when an address has expired", () => {
  const now = Math.floor(Date.now() / 1_000);
  expect([isExpired(signed(urlOf("5"), now - 1)), isExpired(signed(urlOf("5"), now + 60)), isExpired(urlOf("5"))]).toEqual([
    true,
    false,
    false,
  ]);
});
