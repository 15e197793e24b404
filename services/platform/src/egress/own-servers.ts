import { createEgressClient, type EgressClient } from "./client";

/** Model servers in the operator's private network. A client can call only its own server there. */

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };
const KEPT_SERVERS = 100;

/** Returns the host and port of a server's URL, in the form of exceptions. */
export const hostAndPort = (url: string): string => {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || DEFAULT_PORTS[protocol]!}`;
};

const withoutRedirects = (client: EgressClient): EgressClient => ({
  ...client,
  stream: (request) => client.stream({ ...request, maxRedirects: 0 }),
  request: (request) => client.request({ ...request, maxRedirects: 0 }),
});

export interface OwnServers {
  /** Returns a client for one server. It can't call any other private host or port, and it follows no redirects. */
  clientOf(baseUrl: string): EgressClient;
  close(): Promise<void>;
}

export const createOwnServers = (): OwnServers => {
  const clients = new Map<string, EgressClient>();
  const open = (target: string): EgressClient => {
    const client = clients.get(target) ?? createEgressClient({ ownServers: [target] });
    // Deleted and inserted again, so that the most recently used client is last.
    clients.delete(target);
    clients.set(target, client);
    const oldest = [...clients][0];
    if (oldest && clients.size > KEPT_SERVERS) {
      clients.delete(oldest[0]);
      // Its running calls are completed first.
      void oldest[1].close();
    }
    return client;
  };
  return {
    clientOf: (baseUrl) => withoutRedirects(open(hostAndPort(baseUrl))),
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
};
