import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import * as ipaddr from "ipaddr.js";
import { splitHostPort } from "../config";

export type EgressProblem = "REFUSED" | "TOO_LARGE" | "TOO_MANY_REDIRECTS" | "UNREACHABLE" | "TIMEOUT";

/** Thrown if a destination can't be called or a response exceeds a bound. The message can be shown to users. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  constructor(
    readonly code: EgressProblem,
    message: string,
    /** False if the request certainly wasn't sent to the destination. */
    readonly mayHaveBeenSent: boolean,
  ) {
    super(message);
  }
}

const SHOWN_HOST_CHARS = 253;

export const egressRefusal = (why: string, host?: string): EgressError =>
  new EgressError("REFUSED", `refused to call ${host ? host.slice(0, SHOWN_HOST_CHARS) : "this address"}: ${why}`, false);

export const NO_HOST_ADDRESS = "it is not the address of a host";
export const NOT_ONLY_PUBLIC = "its name does not resolve to public addresses only";

/** Resolves a name to all its addresses, as `dns.lookup` does with `all`. */
export type Lookup = (
  host: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Azure's host channel. It provides metadata and credentials at an address that looks public. */
const METADATA_ADDRESS = "168.63.129.16";

/** Metadata addresses of clouds whose address isn't link-local. */
const METADATA_ADDRESSES = new Set([METADATA_ADDRESS, "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"]);
const NO_HOST = new Set(["linkLocal", "multicast", "broadcast"]);

const LAST_OCTETS = [12, 13, 14, 15];
/**
 * IPv6 networks whose addresses contain an IPv4 address, with the octets that contain it: compatible and mapped (RFC 4291), translated (RFC
 * 2765), NAT64 (RFC 6052, and RFC 8215 with every prefix length), 6to4 (RFC 3056), and Teredo's server and (bit-inverted) client (RFC
 * 4380).
 */
const EMBEDDINGS: readonly { network: string; octets: readonly number[]; flip?: number }[] = [
  { network: "::/96", octets: LAST_OCTETS },
  { network: "::ffff:0:0/96", octets: LAST_OCTETS },
  { network: "::ffff:0:0:0/96", octets: LAST_OCTETS },
  { network: "64:ff9b::/96", octets: LAST_OCTETS },
  { network: "64:ff9b:1::/48", octets: LAST_OCTETS },
  { network: "64:ff9b:1::/48", octets: [6, 7, 9, 10] },
  { network: "64:ff9b:1::/48", octets: [7, 9, 10, 11] },
  { network: "64:ff9b:1::/48", octets: [9, 10, 11, 12] },
  { network: "2002::/16", octets: [2, 3, 4, 5] },
  { network: "2001::/32", octets: [4, 5, 6, 7] },
  { network: "2001::/32", octets: LAST_OCTETS, flip: 0xff },
];
/** Form of ISATAP addresses, which can be in any network (RFC 5214). */
const IS_ISATAP = /^(?:[\da-f]+:){4}(?:0|200):5efe:/;

/** IPv4 addresses to which an IPv6 address can lead. */
const embeddedIn = (address: ipaddr.IPv6): ipaddr.IPv4[] => {
  const bytes = address.toByteArray();
  const networks = EMBEDDINGS.filter(({ network }) => address.match(ipaddr.IPv6.parseCIDR(network)));
  if (IS_ISATAP.test(address.toNormalizedString())) networks.push({ network: "", octets: LAST_OCTETS });
  return networks.map(({ octets, flip = 0 }) => new ipaddr.IPv4(octets.map((octet) => bytes[octet]! ^ flip)));
};

const isHost = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  !NO_HOST.has(address.range()) && !METADATA_ADDRESSES.has(address.toString());

/**
 * True if a server in a private network can have the address. All addresses are allowed except those of metadata services, which provide
 * credentials.
 */
export const isHostAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return isHost(parsed) && (parsed.kind() === "ipv4" || embeddedIn(parsed as ipaddr.IPv6).every(isHost));
};

/** True if an address is public unicast: not private, local, mapped, translated or reserved. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast" || parsed.toString() === METADATA_ADDRESS) return false;
  // Only 2000::/3 is routed globally.
  return parsed.kind() === "ipv4" || ((parsed as ipaddr.IPv6).parts[0]! & 0xe000) === 0x2000;
};

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Ports of other protocols, which an HTTP request could imitate (https://fetch.spec.whatwg.org/#port-blocking). */
const FOREIGN_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
  989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Returns `host:port` as the URL parser formats it. Exceptions are compared in this form. */
export const targetOf = (url: URL): string => `${url.hostname}:${url.port || DEFAULT_PORTS[url.protocol]}`;

export const canonicalTargets = (entries: readonly string[]): ReadonlySet<string> =>
  new Set(
    entries.map((entry) => {
      const { host, port } = splitHostPort(entry);
      return targetOf(new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`));
    }),
  );

/** Names that mean this machine, regardless of DNS (RFC 6761). */
const LOCAL_NAME = /^(?:.+\.)?localhost\.?$/;
/** Names in private networks (RFC 6762, RFC 8375, and names reserved by ICANN). */
const OWN_NETWORK_NAME = /\.(?:local|internal|lan|home\.arpa|intranet|corp|home|test|invalid|example)\.?$/;

/** True if a URL has the form of a public one: https, and no name in a private network. */
export const isPublicUrl = (raw: string): boolean => {
  if (!URL.canParse(raw)) return false;
  const { protocol, hostname, username } = new URL(raw);
  const isName = hostname.replace(/\.$/, "").includes(".") && isIP(hostname) === 0;
  return protocol === "https:" && username === "" && isName && !LOCAL_NAME.test(hostname) && !OWN_NETWORK_NAME.test(hostname);
};

const NONE: ReadonlySet<string> = new Set();

/**
 * Checks a URL before a connection is opened.
 * @param allow exceptions from `canonicalTargets`
 * @param ownServers exceptions for private hosts only, from `canonicalTargets`
 * @throws EgressError for other protocols, credentials in the URL, blocked ports and private IP addresses
 */
export const checkUrl = (raw: string, allow: ReadonlySet<string>, ownServers = NONE): URL => {
  if (!URL.canParse(raw)) throw egressRefusal("it is not a URL");
  const url = new URL(raw);
  if (!(url.protocol in DEFAULT_PORTS)) throw egressRefusal("only http and https are allowed", url.host);
  if (url.username || url.password) throw egressRefusal("credentials in a URL are not allowed", url.host);
  if (allow.has(targetOf(url))) return url;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (ownServers.has(targetOf(url))) {
    if (isIP(host) && !isHostAddress(host)) throw egressRefusal(NO_HOST_ADDRESS, url.host);
    return url;
  }
  if (LOCAL_NAME.test(host) || (isIP(host) && !isPublicAddress(host))) throw egressRefusal("it is not a public address", url.host);
  if (url.port && FOREIGN_PORTS.has(Number(url.port))) throw egressRefusal("its port belongs to another protocol", url.host);
  return url;
};
