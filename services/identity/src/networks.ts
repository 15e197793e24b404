import { createHmac } from "node:crypto";
import ipaddr from "ipaddr.js";

/** Providers assign at least this prefix to each IPv6 subscriber. */
const IPV6_PREFIX_BITS = 64;
const BITS_PER_PART = 16;
const MAX_ADDRESS_CHARS = 64;

/** The network whose attempts are counted: an IPv4 address, or the prefix of an IPv6 address. Empty for other texts. */
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

/** Returns a keyed hash of fixed size, so that the database doesn't reveal the parts. */
export const nameOf = (pepper: string, purpose: string, ...parts: string[]): string =>
  createHmac("sha256", pepper)
    .update([purpose, ...parts].join("\n"))
    .digest("hex");
