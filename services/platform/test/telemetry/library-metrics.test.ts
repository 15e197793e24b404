import { once } from "node:events";
import { createServer } from "node:http";
import { libraryMetrics, measureLibraries, readLibraryMetrics } from "../../src/process/library-metrics";

afterEach(() => measureLibraries(undefined));

it("returns libraries' metrics if metrics are on, and the rest while one is unavailable", async () => {
  measureLibraries("scraped");
  const [one, other] = [await libraryMetrics(), await libraryMetrics()] as { listen: string }[];
  expect(await readLibraryMetrics()).toBe("");
  const [host, port] = one!.listen.split(":");
  const library = createServer((request, response) => void response.end(request.url === "/metrics" ? "tasks 7\n" : "")).listen(
    +port!,
    host,
  );
  await once(library, "listening");
  expect(other!.listen).not.toBe(one!.listen);
  expect(await readLibraryMetrics()).toBe("tasks 7\n");
  library.close();
  library.closeAllConnections();
  await once(library, "close");
  expect(await readLibraryMetrics()).toBe("");
});

it("lets libraries send to the collector without scrapes, and measure nothing without either", async () => {
  measureLibraries({ collector: "http://127.0.0.1:4317" });
  expect(await libraryMetrics()).toEqual({ collector: "http://127.0.0.1:4317" });
  measureLibraries(undefined);
  expect(await libraryMetrics()).toBeUndefined();
  expect(await readLibraryMetrics()).toBe("");
});
