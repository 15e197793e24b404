"use strict";
/*
 * Preloaded with node --require: resolves names of services to the addresses in a file, as a cluster's DNS would. NODELOOM_NAMES is the
 * path of the file: {"billing": ["127.1.0.2", …]}. Other names go to the machine's own resolver.
 */
const dns = require("node:dns");
const { readFileSync } = require("node:fs");

const FILE = "NODELOOM_NAMES";

/** @param {string} name @returns {string[] | undefined} in a different order each time, as from DNS */
const addressesOf = (name) => {
  const file = process.env[FILE];
  if (file === undefined) return undefined;
  /** @type {Record<string, string[]>} */
  const names = JSON.parse(readFileSync(file, "utf8"));
  return names[name] && [...names[name]].sort(() => Math.random() - 0.5);
};

/** @param {string} name */
const notFound = (name) => Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND", hostname: name });

const { lookup } = dns;
const lookupPromise = dns.promises.lookup;

/** @param {string} name @param {any} options @param {any} [lastArgument] */
const namedLookup = (name, options, lastArgument) => {
  const callback = lastArgument ?? options;
  const addresses = addressesOf(name);
  if (addresses === undefined) return lookup(name, options, lastArgument);
  if (addresses.length === 0) return void process.nextTick(callback, notFound(name));
  const results = addresses.map((address) => ({ address, family: 4 }));
  if (typeof options === "object" && options?.all) process.nextTick(callback, null, results);
  else process.nextTick(callback, null, results[0]?.address, 4);
};
dns.lookup = /** @type {any} */ (namedLookup);

dns.promises.lookup = /** @type {any} */ (
  async (/** @type {string} */ name, /** @type {any} */ options) => {
    const addresses = addressesOf(name);
    if (addresses === undefined) return lookupPromise(name, options);
    if (addresses.length === 0) throw notFound(name);
    const results = addresses.map((address) => ({ address, family: 4 }));
    return options?.all ? results : results[0];
  }
);
