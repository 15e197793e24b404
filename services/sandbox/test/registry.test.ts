import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInputCheck } from "@nodeloom/kernel";
import { GENERATOR_NAMES, GENERATORS, isGeneratorName } from "../src/generators";
import { renderPicture } from "../src/render/picture";
import { seedOf } from "../src/render/random";
import { startSandbox, type TestSandbox } from "./support/sandbox";

const REGISTRY = join(__dirname, "../../models/registry");

interface Entry {
  internalName: string;
  displayName: string;
  description: string;
  sandbox: boolean;
  provider: { kind: string; app?: string; model?: string; submit?: { path: string; body: Record<string, unknown> } };
  inputSchema: { required?: string[]; properties: Record<string, { default?: unknown; minimum?: number }> };
}

const entries = readdirSync(REGISTRY)
  .filter((name) => name.startsWith("sandbox-"))
  .map((name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as Entry);

const EXAMPLES: Readonly<Record<string, unknown>> = {
  prompt: "a lighthouse",
  image: `data:image/png;base64,${renderPicture(seedOf("a lighthouse"), 256).toString("base64")}`,
  sandbox: { latencyMs: 0 },
};

/** All inputs of an entry with valid example values. */
const exampleInputs = ({ inputSchema }: Entry): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(inputSchema.properties).map(([name, { default: byDefault, minimum }]) => [name, EXAMPLES[name] ?? byDefault ?? minimum]),
  );

const fill = (template: Record<string, unknown>, inputs: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(template).map(([name, value]) => {
      const input = (value as { $input?: string }).$input;
      return [name, input === undefined ? value : inputs[input]];
    }),
  );

describe("the registry's sandbox entries", () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.stop());

  it("are the models the sandbox has", () => {
    expect(entries.map(({ internalName }) => internalName).sort()).toEqual([...GENERATOR_NAMES, "sandbox-chat"].sort());
  });

  it.each(entries)("$internalName states that it is a sandbox and no AI", ({ displayName, description, sandbox: isSandbox }) => {
    expect(isSandbox).toBe(true);
    expect(displayName).toContain("Sandbox");
    expect(description).toContain("No AI");
  });

  it.each(entries.filter(({ provider }) => provider.kind !== "llm"))("$internalName sends inputs the sandbox accepts", async (entry) => {
    const { submit, app } = entry.provider;
    const inputs = exampleInputs(entry);
    const answer = submit
      ? await sandbox.call("POST", submit.path, fill(submit.body, inputs))
      : await sandbox.call("POST", `/queue/${String(app)}`, inputs);
    expect([200, 202]).toContain(answer.status);
    const listed = await sandbox.call("GET", "/v1/jobs?limit=1");
    expect(listed.at("jobs.0.model")).toBe(entry.internalName);
  });

  it.each(entries)("$internalName has a schema that accepts its own inputs and no others", (entry) => {
    const check = createInputCheck(entry.inputSchema);
    expect(check(exampleInputs(entry))).toEqual([]);
    expect(check({ prompt: "x" })).toEqual([]);
    expect(check({}).map(({ path }) => path)).toEqual(entry.inputSchema.required ?? [""]);
    expect(check({ prompt: "x", colour: "red", sandbox: { fail: "explode" } }).map(({ path }) => path)).toEqual(
      expect.arrayContaining(["colour", "sandbox.fail"]),
    );
  });

  it("are priced by the sandbox's default length", () => {
    for (const { internalName, inputSchema } of entries) {
      const seconds = inputSchema.properties.seconds?.default;
      if (!isGeneratorName(internalName) || typeof seconds !== "number") continue;
      const { files } = GENERATORS[internalName];
      expect(files({ prompt: "x", count: 1 })).toEqual(files({ prompt: "x", count: 1, seconds }));
    }
  });

  it("sandbox-chat names the sandbox's model", async () => {
    const chat = entries.find(({ provider }) => provider.kind === "llm");
    expect((await sandbox.call("GET", "/v1/models")).at("data.0.id")).toBe(chat?.provider.model);
  });
});
