import { readFileSync } from "node:fs";
import { createInputCheck, pricedInputs, readWrittenPrice, worstCaseMicroUsd, type WrittenPrice } from "@nodeloom/kernel";
import { isHosted, readEntries, requestOf, type RegistryFile } from "../models/requests";
import { PAGE, rowsOf } from "../models/table";

const entries = readEntries();
const hosted = entries.filter(isHosted);
const priceOf = (entry: RegistryFile) => readWrittenPrice((entry as unknown as { price: WrittenPrice }).price);

/** Inputs for entries without an example: any text, and any file. */
const filledIn = ({ inputSchema }: RegistryFile): Record<string, unknown> => {
  const properties = inputSchema.properties as Record<string, { format?: string }>;
  const required = (inputSchema.required ?? []) as string[];
  return Object.fromEntries(required.map((name) => [name, properties[name]?.format === "media" ? "https://example.com/a" : "a boat"]));
};
const examplesOf = (entry: RegistryFile): Record<string, unknown>[] => entry.inputSchema.examples ?? [filledIn(entry)];

describe.each(entries.map((entry) => [entry.internalName, entry] as const))("%s", (_name, entry) => {
  it.each(examplesOf(entry))("accepts its example, and has a price for it: %j", (inputs) => {
    expect(createInputCheck(entry.inputSchema)(inputs)).toEqual([]);
    const cost = worstCaseMicroUsd({ price: priceOf(entry), schema: entry.inputSchema, inputs, unknown: new Set(), inputTokens: 100 });
    expect(Number.isSafeInteger(cost)).toBe(true);
    expect(cost > 0).toBe(entry.runsAt !== "local");
  });
});

describe.each(hosted.map((entry) => [entry.internalName, entry] as const))("%s", (_name, entry) => {
  it("sends one request for its example to its provider, with the key and without missing values", async () => {
    const [example] = entry.inputSchema.examples!;
    const { method, url, headers, body } = await requestOf(entry, (inputs) => pricedInputs(priceOf(entry), entry.inputSchema, inputs));
    const { baseUrl, auth } = entry.provider;
    const { host } = new URL(baseUrl.replace(/\$\{[A-Z_]+\}/, "https://provider.example"));
    expect([method, new URL(url).host]).toEqual(["POST", host]);
    expect(headers[auth?.header ?? "Authorization"]).toContain("secret-of-the-drill");
    for (const value of Object.values(example!)) if (typeof value === "string" && !/^https:/.test(value)) expect(body).toContain(value);
    expect(url + body).not.toMatch(/\$input|\$each|\$\{|undefined/);
  });

  it("states its provider, the date of the information and its source", () => {
    expect([entry.company, entry.asOf, entry.source]).toEqual([expect.any(String), expect.stringMatching(/^20\d\d-/), expect.any(String)]);
  });
});

it("the models with a check match the rows of the guide (otherwise: npm run drill models)", () => {
  expect(rowsOf(readFileSync(PAGE, "utf8")).sort()).toEqual(hosted.map(({ internalName }) => internalName).sort());
});
