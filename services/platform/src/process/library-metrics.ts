import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createEgressClient, type EgressClient } from "../egress/client";

/** How a library exports its own metrics: over HTTP at `listen`, or to a collector. */
export type LibraryMetrics = { listen: string } | { collector: string };

const READ = { timeoutMs: 2_000, maxBytes: 4 * 1024 * 1024 };

let destination: "scraped" | { collector: string } | undefined;
const libraries = new Map<string, EgressClient>();

/** Sets where libraries export metrics; undefined disables the export. */
export const measureLibraries = (to: typeof destination): void => {
  destination = to;
  for (const client of libraries.values()) void client.close();
  libraries.clear();
};

const freeLoopback = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `127.0.0.1:${port}`;
};

/** Returns where the next library exports metrics; undefined if this process has no metrics. */
export const libraryMetrics = async (): Promise<LibraryMetrics | undefined> => {
  if (destination !== "scraped") return destination;
  const listen = await freeLoopback();
  libraries.set(listen, createEgressClient({ allow: [listen] }));
  return { listen };
};

const ask = async ([address, client]: [string, EgressClient]): Promise<string> => {
  try {
    const { status, body } = await client.request({ url: `http://${address}/metrics`, ...READ });
    return status === 200 ? body.toString() : "";
  } catch {
    // The library isn't running. The other metrics are still returned.
    return "";
  }
};

export const readLibraryMetrics = async (): Promise<string> => (await Promise.all([...libraries].map(ask))).join("");
