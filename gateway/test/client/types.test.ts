import { OPERATIONS } from "@nodeloom/client";
import { routes } from "../../src/endpoints";

describe("the client's types", () => {
  it("know every route under its operation id", () => {
    const operations = Object.entries(OPERATIONS).map(([id, { method, path }]) => `${id} ${method} ${path}`);
    expect(operations.sort()).toEqual(
      routes.map(({ operationId, method, path }) => `${operationId} ${method} ${path.replaceAll(/[:*](\w+)/g, "{$1}")}`).sort(),
    );
  });
});
