import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Credential } from "./claim";

/** A credential that passed all checks. */
export interface CheckedCredential extends Credential {
  /** SHA-256 of the signing certificate, in hexadecimal. */
  fingerprint: string;
  expiresAt: Date;
}

const PEM = /-----BEGIN [A-Z ]+-----/;
const CURVES: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1"]);

/** Decodes PEM, or PEM in base64, which environment files need because each variable has one line. */
const pemOf = (value: string): string => (PEM.test(value) ? value : Buffer.from(value, "base64").toString("utf8"));

const parsed = <T>(name: string, parse: () => T): T => {
  try {
    return parse();
  } catch {
    throw new Error(`the ${name} can't be read: it must be PEM, or PEM in base64`);
  }
};

/**
 * Checks that a key and a chain can sign.
 * @throws Error with the problem
 */
export const checkCredential = (chain: string, key: string, now = new Date()): CheckedCredential => {
  const texts = { chain: pemOf(chain), key: pemOf(key) };
  const certificate = parsed("certificate", () => new X509Certificate(texts.chain));
  const privateKey = parsed("key", () => createPrivateKey(texts.key));
  if (!CURVES.has(privateKey.asymmetricKeyDetails?.namedCurve)) throw new Error("the key must be an elliptic curve key on P-256 or P-384");
  if (!certificate.checkPrivateKey(privateKey)) throw new Error("the key isn't the certificate's: put the signing certificate first");
  if (certificate.ca || certificate.checkIssued(certificate))
    throw new Error("the certificate is self-signed or an authority's: use one that an authority issued");
  const expiresAt = new Date(certificate.validTo);
  if (expiresAt <= now) throw new Error(`the certificate expired at ${expiresAt.toISOString()}`);
  const fingerprint = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  return { ...texts, fingerprint, expiresAt };
};
