import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createEgressClient, type EgressClient } from "../egress/client";

/** How a library that measures by itself is to tell it: to whoever asks it over HTTP at `listen`, or to an OpenTelemetry collector. */
export type LibraryMetrics = { listen: string } | { collector: string };

/** Of one library's answer. */
const READ = { timeoutMs: 2_000, maxBytes: 4 * 1024 * 1024 };

let destination: "scraped" | { collector: string } | undefined;
/** By the address at which a library answers, whom to ask there. */
const libraries = new Map<string, EgressClient>();

/** From when a process is measured; undefined when it is no more. */
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

/** For one library. @returns nothing where this process is not measured */
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
    // It does not run, or not any more: everything else is told.
    return "";
  }
};

/** What the libraries have measured, as Prometheus reads it. */
export const readLibraryMetrics = async (): Promise<string> => (await Promise.all([...libraries].map(ask))).join("");
