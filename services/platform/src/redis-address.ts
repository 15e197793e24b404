/** Addresses of Redis: one server, Sentinels that know the primary, or nodes of a cluster. */

export interface RedisNode {
  host: string;
  port: number;
}

export interface RedisCredentials {
  username?: string;
  password?: string;
}

export type RedisAddress =
  | { kind: "server" }
  | ({ kind: "sentinel"; tls: boolean; nodes: RedisNode[]; primary: string; sentinel: RedisCredentials } & RedisCredentials)
  | ({ kind: "cluster"; tls: boolean; nodes: RedisNode[] } & RedisCredentials);

const ADDRESS = /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const NODE = /^(\[[0-9a-f:]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/i;
const PORTS = { sentinel: 26_379, cluster: 6_379 };
const MAX_PORT = 65_535;
const FORMS =
  "redis://host:6379, redis+sentinel://host:26379,host:26379/NAME-OF-PRIMARY or redis+cluster://host:6379,host:6379 (rediss for TLS, user:password@ before the first host)";

/** An invalid address. The message never contains the address, which can hold a password. */
export class RedisAddressError extends Error {
  override readonly name = "RedisAddressError";
}

const refuse = (problem: string): never => {
  throw new RedisAddressError(problem);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse("write % in the user, the password and the name of the primary as %25");
  }
};

const readNode = (text: string, index: number, defaultPort: number): RedisNode => {
  const match = NODE.exec(text);
  const port = Number(match?.[2] ?? defaultPort);
  if (!match || port < 1 || port > MAX_PORT) return refuse(`host ${index + 1} of the list must be host:port`);
  return { host: match[1]!.replace(/^\[|\]$/g, ""), port };
};

const readCredentials = (text: string | undefined): RedisCredentials => {
  if (text === undefined) return {};
  const colon = text.indexOf(":");
  if (colon < 0) return refuse("write user:password@ or :password@ before the first host");
  const [username, password] = [decoded(text.slice(0, colon)), decoded(text.slice(colon + 1))];
  return { ...(username === "" ? {} : { username }), ...(password === "" ? {} : { password }) };
};

const readSentinelCredentials = (query: string | undefined): RedisCredentials => {
  const { sentinelUsername: username, sentinelPassword: password, ...unknown } = Object.fromEntries(new URLSearchParams(query ?? ""));
  const [name] = Object.keys(unknown);
  if (name !== undefined) return refuse(`only sentinelUsername and sentinelPassword can follow the question mark`);
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
};

/**
 * Reads an address of Redis.
 * @throws RedisAddressError that says what is wrong with it
 */
export const parseRedisAddress = (url: string): RedisAddress => {
  if (/^rediss?:\/\//.test(url)) {
    if (!URL.canParse(url) || new URL(url).hostname === "") refuse(`the host or the port is missing or malformed: write ${FORMS}`);
    return { kind: "server" };
  }
  const match = ADDRESS.exec(url);
  if (!match) return refuse(`write ${FORMS}`);
  const [, scheme, kind, login, hosts = "", path = "", query] = match;
  const tls = scheme === "rediss";
  const credentials = readCredentials(login);
  const nodes = hosts.split(",").map((host, index) => readNode(host, index, PORTS[kind as keyof typeof PORTS]));
  if (kind === "cluster") {
    if (path !== "" || query !== undefined) refuse("nothing can follow the hosts of a cluster: it has one database, 0");
    return { kind: "cluster", tls, nodes, ...credentials };
  }
  const primary = decoded(path);
  if (primary === "") refuse("the name of the primary must follow the hosts of the Sentinels: /NAME-OF-PRIMARY");
  return { kind: "sentinel", tls, nodes, primary, sentinel: readSentinelCredentials(query), ...credentials };
};
