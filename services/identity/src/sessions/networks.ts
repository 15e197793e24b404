import { createHmac } from "node:crypto";
import ipaddr from "ipaddr.js";

/** IPv6 subscribers get at least this prefix. */
const IPV6_PREFIX_BITS = 64;
const BITS_PER_PART = 16;
const MAX_ADDRESS_CHARS = 64;

/** The counted network: an IPv4 address, or the prefix of an IPv6 address. Empty for other texts. */
export const networkOf = (address: string): string => {
  if (address.length > MAX_ADDRESS_CHARS || !ipaddr.isValid(address)) return "";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6)
    return parsed.parts
      .slice(0, IPV6_PREFIX_BITS / BITS_PER_PART)
      .map(String)
      .join(":");
  return parsed.toString();
};

/** A keyed hash of fixed size, so that the database doesn't reveal its parts. */
export const nameOf = (pepper: string, purpose: string, ...parts: string[]): string =>
  createHmac("sha256", pepper)
    .update([purpose, ...parts].join("\n"))
    .digest("hex");
