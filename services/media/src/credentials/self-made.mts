/** A certificate for development. No verifier trusts it. */

import { createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type { Credential } from "./claim.js";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
/** Signatures have no time stamp, so validators reject them after the certificate expires. */
const VALID_DAYS = 730;
const DAY_MS = 24 * 60 * 60 * 1_000;
const CLOCK_SKEW_MS = 60_000;
const SERIAL_BYTES = 8;
const EMAIL_PROTECTION = "1.3.6.1.5.5.7.3.4";

const serial = (): string => `01${randomBytes(SERIAL_BYTES).toString("hex")}`;

/** Signed by a root whose key isn't kept, because a self-signed certificate can't sign a manifest. */
export const selfMade = async (): Promise<Credential> => {
  const makeKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const [root, leaf] = await Promise.all([makeKeys(), makeKeys()]);
  const dates = { notBefore: new Date(Date.now() - CLOCK_SKEW_MS), notAfter: new Date(Date.now() + VALID_DAYS * DAY_MS) };
  const issuer = "CN=Nodeloom self-made root (untrusted), O=Nodeloom";
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ ...dates, serialNumber: serial(), issuer, subject: "CN=Nodeloom self-made (untrusted), O=Nodeloom" },
    ...{ publicKey: leaf.publicKey, signingKey: root.privateKey, signingAlgorithm: ALGORITHM },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([EMAIL_PROTECTION]),
      await x509.AuthorityKeyIdentifierExtension.create(root.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(leaf.publicKey),
    ],
  });
  const key = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey("pkcs8", leaf.privateKey)),
    ...{ format: "der", type: "pkcs8" },
  });
  return { chain: certificate.toString("pem"), key: key.export({ format: "pem", type: "pkcs8" }).toString() };
};
