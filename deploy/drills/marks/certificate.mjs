/** A root and a certificate that it issued for signing files. */

import { createPrivateKey, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const EMAIL_PROTECTION = "1.3.6.1.5.5.7.3.4";
const DAY_MS = 86_400_000;
const ROOT_NAME = "CN=Drill root, O=Drill";

const makeKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

/** @returns {Promise<{ root: string, chain: string, key: string }>} in PEM; the chain has the certificate and its root */
export const makeCertificate = async () => {
  const [rootKeys, keys] = await Promise.all([makeKeys(), makeKeys()]);
  const dates = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ ...dates, serialNumber: "01", name: ROOT_NAME, keys: rootKeys, signingAlgorithm: ALGORITHM },
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(rootKeys.publicKey),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ ...dates, serialNumber: "02", issuer: ROOT_NAME, subject: "CN=Drill, O=Drill" },
    ...{ publicKey: keys.publicKey, signingKey: rootKeys.privateKey, signingAlgorithm: ALGORITHM },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([EMAIL_PROTECTION]),
      await x509.AuthorityKeyIdentifierExtension.create(rootKeys.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  return {
    root: root.toString("pem"),
    chain: `${certificate.toString("pem")}\n${root.toString("pem")}\n`,
    key: key.export({ format: "pem", type: "pkcs8" }).toString(),
  };
};
