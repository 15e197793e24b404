import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { p256, p384 } from "@noble/curves/nist";
import * as x509 from "@peculiar/x509";
import type { Signer } from "@trustnxt/c2pa-ts/cose";
import type { Credential } from "./claim.js";

interface Scheme {
  algorithm: Signer["algorithm"];
  sign(payload: Uint8Array, secret: Uint8Array): Uint8Array;
}

/**
 * COSE algorithms by curve (RFC 9053): r|s instead of the DER that the library's own signer writes. Deterministic (RFC 6979), which Node's
 * signatures aren't, so that a repeated attempt stores the same bytes.
 */
const SCHEMES: Readonly<Record<string, Scheme>> = {
  "P-256": { algorithm: -7, sign: (payload, secret) => p256.sign(hashOf("sha256", payload), secret).toCompactRawBytes() },
  "P-384": { algorithm: -35, sign: (payload, secret) => p384.sign(hashOf("sha384", payload), secret).toCompactRawBytes() },
};

const hashOf = (name: string, payload: Uint8Array): Uint8Array => createHash(name).update(payload).digest();

const schemeOf = (key: KeyObject): { scheme: Scheme; secret: Uint8Array } => {
  const { crv = "", d = "" } = key.export({ format: "jwk" });
  const scheme = SCHEMES[crv];
  if (!scheme) throw new Error("the key must be an elliptic curve key on P-256 or P-384");
  return { scheme, secret: Buffer.from(d, "base64url") };
};

const parsed = ({ chain, key }: Credential): Signer => {
  const { scheme, secret } = schemeOf(createPrivateKey(key));
  const [certificate, ...chainCertificates] = x509.PemConverter.decode(chain).map((one) => new x509.X509Certificate(one));
  if (!certificate) throw new Error("the chain has no certificate");
  return {
    ...{ algorithm: scheme.algorithm, certificate, chainCertificates },
    sign: (payload) => Promise.resolve(scheme.sign(payload, secret)),
  };
};

let newest: (Credential & { signer: Signer }) | undefined;

/** Keeps the newest signer, because parsing a credential takes longer than signing. @throws if the credential can't be read */
export const signerOf = ({ chain, key }: Credential): Signer => {
  if (newest?.chain !== chain || newest.key !== key) newest = { chain, key, signer: parsed({ chain, key }) };
  return newest.signer;
};
