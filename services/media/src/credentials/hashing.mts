/**
 * Lets the library hash with Node. By default it hashes with WebCrypto, which copies a whole file for each hash, and computes even the
 * smallest in another thread.
 */

import { createHash, type Hash } from "node:crypto";
import { Crypto, type CryptoProvider, type HashAlgorithm } from "@trustnxt/c2pa-ts/crypto";

const hashOf = (algorithm: HashAlgorithm): Hash => createHash(algorithm.replace("-", ""));
const result = (hash: Hash): Promise<Uint8Array> => Promise.resolve(new Uint8Array(hash.digest()));

const hashes: Pick<CryptoProvider, "digest" | "streamingDigest"> = {
  digest: (data, algorithm) => result(hashOf(algorithm).update(data)),
  streamingDigest: (algorithm) => {
    const hash = hashOf(algorithm);
    return { update: (data) => void hash.update(data), final: () => result(hash) };
  },
};

Crypto.provider = Object.assign(Object.create(Crypto.provider) as CryptoProvider, hashes);
