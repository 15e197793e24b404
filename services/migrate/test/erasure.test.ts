import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERASURE } from "@nodeloom/kernel";

/** Every collection. migrate.test.ts compares it with the services' declarations. */
const SCHEMA = JSON.parse(readFileSync(join(__dirname, "schema.json"), "utf8")) as Record<
  string,
  { collections: Record<string, string[]> }
>;
/** The migration version of a database; it holds no account's data. */
const OWN = "migrations";

it("states for every collection of every service the effect of erasing an account, and for no other", () => {
  const ownersByService = Object.fromEntries(
    Object.entries(ERASURE).map(([service, collections]) => [service, Object.keys(collections).sort()]),
  );
  const declared = Object.entries(SCHEMA).map(([service, { collections }]) => [
    service,
    Object.keys(collections)
      .filter((name) => name !== OWN)
      .sort(),
  ]);
  expect(ownersByService).toEqual(Object.fromEntries(declared));
});

it("removes only resources that belong to the erased ones", () => {
  for (const collections of Object.values(ERASURE) as Record<string, unknown>[])
    for (const erasing of Object.values(collections))
      if (typeof erasing === "object" && erasing !== null && "with" in erasing) expect(collections[String(erasing.with)]).toBe("removed");
});
