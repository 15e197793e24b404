import { z } from "zod";
import { SERVER_KINDS, serverUrl, slugOf, type ServerKind } from "./server-record";

/** Model servers set in the environment. */

export interface NamedServer {
  id: string;
  kind: ServerKind;
  name: string;
  url: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

const isKind = (text: string): text is ServerKind => (SERVER_KINDS as readonly string[]).includes(text);

/** @throws Error with the problem of the entry */
const readServer = (entry: string): NamedServer => {
  const [kind = "", ...rest] = entry.split("=");
  if (!isKind(kind)) throw new Error(`${JSON.stringify(entry)}: must be kind=url, of the kinds ${SERVER_KINDS.join(", ")}`);
  const parsed = serverUrl(kind).safeParse(rest.join("="));
  if (!parsed.success) throw new Error(`${JSON.stringify(entry)}: ${parsed.error.issues.map(({ message }) => message).join("; ")}`);
  const { hostname, port, protocol } = new URL(parsed.data);
  const name = `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
  return { id: slugOf(name), kind, name, url: parsed.data };
};

const notTwice = (servers: readonly NamedServer[]): void => {
  const ids = servers.map(({ id }) => id);
  const twice = servers.find(({ id }, index) => ids.indexOf(id) !== index);
  if (twice) throw new Error(`${twice.name} is named twice`);
};

/** `MODEL_SERVERS`: comma-separated `kind=url` entries. */
export const modelServers = z
  .string()
  .default("")
  .transform((text, context): NamedServer[] => {
    try {
      const entries = text.split(",").map((entry) => entry.trim()).filter(Boolean); // prettier-ignore
      const servers = entries.map(readServer);
      notTwice(servers);
      return servers;
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message });
      return z.NEVER;
    }
  });
