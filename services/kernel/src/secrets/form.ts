/** Form of secrets: names, values and allowed hosts. Graphs refer to secrets by name and never contain their values. */

export const SECRET_BOUNDS = {
  /** Maximum secrets per account. */
  secrets: 200,
  valueChars: 8_192,
  /** A shorter value could occur in a response by chance. */
  minValueChars: 8,
  hosts: 20,
  hostChars: 260,
  /** Maximum workflows to which a secret can be limited. */
  workflows: 50,
} as const;

export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
export const SECRET_NAME_FORM = "must be up to 64 capital letters, digits and underscores, a letter first";

/**
 * Selects the value of a secret for a run. If any alias has a value, only the run's own alias counts; there is no fallback.
 * @param alias the run's alias; empty for a run of a draft or of a version by number
 */
export const secretForAlias = <T extends { name: string; alias?: string | undefined }>(
  all: readonly T[],
  name: string,
  alias: string,
): T | undefined => {
  const values = all.filter((one) => one.name === name);
  const ofAliases = values.filter((one) => (one.alias ?? "") !== "");
  return ofAliases.length > 0 ? ofAliases.find((one) => one.alias === alias) : values[0];
};

/**
 * True if a node can send a secret.
 * @param workflows slugs of the secret; empty for all workflows
 * @param slug workflow whose graph contains the node
 */
export const isSecretOf = (workflows: readonly string[], slug: string): boolean => workflows.length === 0 || workflows.includes(slug);

/** Printable ASCII, because a secret can be sent as a header. */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
export const HEADER_VALUE_FORM = "printable ASCII characters without spaces around them";

const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_.-]*[\p{L}\p{M}\p{N}])?)(?::\d{1,5})?$/iu;
/** Default ports, which apply to entries without a port. */
const DEFAULT_PORT: Readonly<Record<string, string>> = { "https:": "443", "http:": "80" };

/** A `host` or `host:port` as URLs spell it; undefined if it is invalid. */
export const secretHost = (entry: string): string | undefined => {
  if (entry.length > SECRET_BOUNDS.hostChars || !HOST.test(entry)) return undefined;
  // Parsed only for the host. The port is taken from the entry, because a URL drops the default port of its scheme.
  const url = `ws://${entry}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  const port = /:(\d+)$/.exec(entry.replace(/^\[.*\]/, "[]"))?.[1];
  if (port === undefined) return hostname;
  return Number(port) > 0 ? `${hostname}:${Number(port)}` : undefined;
};

/** True if a request goes to one of the hosts: the names are equal, and the port is the entry's or the protocol's default. */
export const isSecretHost = (hosts: readonly string[], url: URL): boolean => {
  const own = DEFAULT_PORT[url.protocol];
  const port = url.port || own;
  return hosts.includes(`${url.hostname}:${port}`) || (port === own && hosts.includes(url.hostname));
};

/**
 * True if a platform key can be sent to a URL. An address allows a scheme, host and port, or a domain pattern (`*.example.com`) over https.
 * Keys stored by version 1.0.0 have only a host and port, or no address for providers; no address means any current address.
 */
export const isKeyAddress = (addresses: readonly string[], { origin, host, protocol }: URL): boolean =>
  addresses.length === 0 ||
  addresses.includes(origin) ||
  addresses.includes(host) ||
  addresses.some((address) => address.startsWith("*.") && protocol === "https:" && host.endsWith(address.slice(1)));

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** True if only the receiver can read the request, which requires https or a loopback address. */
export const isConfidential = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
