import { nearestPath } from "../../src/http/nearest-path";

const PATHS = [
  "/api/workflows",
  "/api/workflows/:slug",
  "/api/workflows/:slug/run",
  "/api/models/:internalName/run",
  "/api/workflows/:slug/hooks",
];

it.each([
  ["/api/workflow", "/api/workflows"],
  ["/api/workflows/poster/rnu", "/api/workflows/:slug/run"],
  ["/api/model/x/run", "/api/models/:internalName/run"],
  ["/workflows/poster/run", "/api/workflows/:slug/run"],
  ["/api/hooks", "/api/workflows/:slug/hooks"],
  ["/api/workflows/", "/api/workflows"],
  ["/", undefined],
  ["/api/workflows//run", undefined],
  ["/api/unicorns", undefined],
  ["/wp-login.php", undefined],
  [`/${"a/".repeat(500)}`, undefined],
])("of %s is %s", (path, nearest) => {
  expect(nearestPath(path, PATHS)).toBe(nearest);
});
