import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OPERATIONS } from "@nodeloom/client";
import { routes } from "../../src/endpoints";
import { document } from "../support/document";

const CLIENT = join(__dirname, "..", "..", "client");

describe("the client's types", () => {
  it("are those of the OpenAPI document (otherwise: npm run generate)", () => {
    const generated = execFileSync(process.execPath, [join(CLIENT, "generate.cjs"), "-"], { input: JSON.stringify(document) }).toString();
    expect(readFileSync(join(CLIENT, "src", "api-types.ts"), "utf8")).toBe(generated);
  });

  it("are those of the Python client, too (otherwise: npm run generate)", () => {
    const python = join(CLIENT, "..", "python");
    const generated = execFileSync(process.execPath, [join(python, "generate.cjs"), "-"], { input: JSON.stringify(document) }).toString();
    for (const [name, text] of Object.entries(JSON.parse(generated) as Record<string, string>))
      expect(readFileSync(join(python, "src", "nodeloom", name), "utf8")).toBe(text);
  });

  it("know every route under its operation id", () => {
    const known = Object.entries(OPERATIONS).map(([id, { method, path }]) => `${id} ${method} ${path}`);
    expect(known.sort()).toEqual(
      routes.map(({ operationId, method, path }) => `${operationId} ${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`).sort(),
    );
  });
});
