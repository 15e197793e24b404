import { createHmac } from "node:crypto";
import ipaddr from "ipaddr.js";

/** One subscriber has at least so much of IPv6. */
const IPV6_PREFIX_BITS = 64;
const BITS_PER_PART = 16;
const MAX_ADDRESS_CHARS = 64;

/** What counts as one address: an IPv4 address, or the network of an IPv6 one. Empty for what is neither. */
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

/** Names what is counted or known, in a fixed size and so that nothing of it can be read in the database. */
export const nameOf = (pepper: string, purpose: string, ...parts: string[]): string =>
  createHmac("sha256", pepper)
    .update([purpose, ...parts].join("\n"))
    .digest("hex");
