/**
 * Lets the library hash and verify with Node. By default it hashes with WebCrypto, which copies a whole file for each hash, and computes even
 * the smallest in another thread. To verify, it parses and imports the public key for each signature.
 */

import { createHash, createPublicKey, verify, type Hash, type KeyObject } from "node:crypto";
import { Crypto, type CryptoProvider, type HashAlgorithm } from "@trustnxt/c2pa-ts/crypto";

const nameOf = (algorithm: HashAlgorithm): string => algorithm.replace("-", "");
const hashOf = (algorithm: HashAlgorithm): Hash => createHash(nameOf(algorithm));
const result = (hash: Hash): Promise<Uint8Array> => Promise.resolve(new Uint8Array(hash.digest()));

/** Node's names of curves, and the bytes of a signature in the form r|s. */
const CURVES: Readonly<Record<string, { curve: string; bytes: number }>> = {
  "P-256": { curve: "prime256v1", bytes: 64 },
  "P-384": { curve: "secp384r1", bytes: 96 },
};

let newest: { bytes: Uint8Array; key: KeyObject } | undefined;

/** Keeps the newest key, because files that are signed here have the same one. @throws if the key can't be read */
const publicKeyOf = (bytes: Uint8Array): KeyObject => {
  if (!newest || Buffer.compare(newest.bytes, bytes) !== 0)
    newest = { bytes: bytes.slice(), key: createPublicKey({ key: Buffer.from(bytes), format: "der", type: "spki" }) };
  return newest.key;
};

const own = Crypto.provider;
const overridden: Pick<CryptoProvider, "digest" | "streamingDigest" | "verifySignature"> = {
  digest: (data, algorithm) => result(hashOf(algorithm).update(data)),
  streamingDigest: (algorithm) => {
    const hash = hashOf(algorithm);
    return { update: (data) => void hash.update(data), final: () => result(hash) };
  },
  verifySignature: async (payload, signature, publicKey, algorithm) => {
    const form = algorithm.name === "ECDSA" ? CURVES[algorithm.namedCurve] : undefined;
    if (algorithm.name !== "ECDSA" || signature.length !== form?.bytes)
      return own.verifySignature(payload, signature, publicKey, algorithm);
    const key = publicKeyOf(publicKey);
    if (key.asymmetricKeyDetails?.namedCurve !== form.curve) return false;
    return verify(nameOf(algorithm.hash), payload, { key, dsaEncoding: "ieee-p1363" }, signature);
  },
};

Crypto.provider = Object.assign(Object.create(own) as CryptoProvider, overridden);
