import { Schema, type Connection, type Model } from "mongoose";
import type { OidcIdentityRecord, OidcSignInRecord } from "../records";
import { OPTIONS, text, date } from "../schema-fields";

const identitySchema = new Schema<OidcIdentityRecord>(
  { _id: text, issuer: text, subject: text, userId: text, linkedAt: date, admin: { type: Boolean, required: true } },
  OPTIONS,
)
  // An account has at most one identity.
  .index({ userId: 1 }, { unique: true });

const linking = new Schema({ userId: text, sessionEpoch: { type: Number, required: true } }, OPTIONS);
const signInSchema = new Schema<OidcSignInRecord>(
  {
    _id: text,
    browser: text,
    nonce: text,
    verifier: text,
    redirectUri: text,
    returnTo: text,
    linking: { type: linking, default: null },
    expiresAt: date,
  },
  OPTIONS,
).index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export const createOidcModels = (connection: Connection): { identities: Model<OidcIdentityRecord>; signIns: Model<OidcSignInRecord> } => ({
  identities: connection.model<OidcIdentityRecord>("OidcIdentity", identitySchema, "oidc-identities"),
  signIns: connection.model<OidcSignInRecord>("OidcSignIn", signInSchema, "oidc-sign-ins"),
});
