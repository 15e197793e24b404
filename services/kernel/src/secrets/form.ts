/** secrets/: values that graphs name, and never have. Here: their names, their values and the hosts that they go to. */

export const SECRET_BOUNDS = {
  /** Secrets of one account. */
  secrets: 200,
  valueChars: 8_192,
  /** Shorter values would be found in any answer. */
  minValueChars: 8,
  hosts: 20,
  hostChars: 260,
} as const;

export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
export const SECRET_NAME_FORM = "must be up to 64 capital letters, digits and underscores, a letter first";

/** What a header can carry, and so what a secret's value may be. */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
export const HEADER_VALUE_FORM = "printable ASCII characters without spaces around them";

const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_.-]*[\p{L}\p{M}\p{N}])?)(?::\d{1,5})?$/iu;
/** Of which `host` alone means the protocol's own port. */
const DEFAULT_PORT: Readonly<Record<string, string>> = { "https:": "443", "http:": "80" };

/** A host, or `host:port`, as URLs spell it; undefined for what is neither. */
export const secretHost = (entry: string): string | undefined => {
  if (entry.length > SECRET_BOUNDS.hostChars || !HOST.test(entry)) return undefined;
  // No protocol's own port, which a URL would leave out.
  const url = `ws://${entry}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  const port = /:(\d+)$/.exec(entry.replace(/^\[.*\]/, "[]"))?.[1];
  if (port === undefined) return hostname;
  return Number(port) > 0 ? `${hostname}:${Number(port)}` : undefined;
};

/** Whether a request goes to one of the hosts: the same name, and the port that the entry has, or its protocol's own. */
export const isSecretHost = (hosts: readonly string[], url: URL): boolean => {
  const own = DEFAULT_PORT[url.protocol];
  const port = url.port || own;
  return hosts.includes(`${url.hostname}:${port}`) || (port === own && hosts.includes(url.hostname));
};

/**
 * Whether a key of the platform was stored for an address: for its scheme, host and port, or for hosts below a domain (`*.example.com`),
 * by https. Keys that 1.0.0 stored name a host and port alone, those of providers none, which means the addresses of today.
 */
export const isKeyAddress = (addresses: readonly string[], { origin, host, protocol }: URL): boolean =>
  addresses.length === 0 ||
  addresses.includes(origin) ||
  addresses.includes(host) ||
  addresses.some((address) => address.startsWith("*.") && protocol === "https:" && host.endsWith(address.slice(1)));

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a request can be read by its receiver alone: by https, or on this machine. */
export const isConfidential = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
