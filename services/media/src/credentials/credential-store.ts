import { Schema, type Connection } from "mongoose";

/** A certificate with which this installation has signed. Its key isn't stored here. */
export interface SigningCertificate {
  /** SHA-256 of the certificate, in hexadecimal. */
  fingerprint: string;
  /** True if this installation created it. Other systems then don't trust it. */
  isSelfMade: boolean;
}

export interface CredentialStore {
  /** Adds a certificate. Idempotent. */
  add(certificate: SigningCertificate): Promise<void>;
  find(fingerprint: string): Promise<SigningCertificate | undefined>;
}

interface Row {
  _id: string;
  isSelfMade: boolean;
  createdAt: Date;
}

const rows = new Schema<Row>(
  { _id: String, isSelfMade: { type: Boolean, required: true }, createdAt: { type: Date, required: true } },
  { collection: "signingCertificates", versionKey: false, strict: "throw" },
);

export const createCredentialStore = (connection: Connection): CredentialStore => {
  const model = connection.model<Row>("SigningCertificate", rows);
  return {
    add: async ({ fingerprint, isSelfMade }) => {
      await model.updateOne({ _id: fingerprint }, { $setOnInsert: { isSelfMade, createdAt: new Date() } }, { upsert: true }).exec();
    },
    find: async (fingerprint) => {
      const row = await model.findOne({ _id: fingerprint }).lean<Row>().exec();
      return row ? { fingerprint, isSelfMade: row.isSelfMade } : undefined;
    },
  };
};
