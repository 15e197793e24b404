import { Schema } from "mongoose";
import type { AttemptsRecord, KnownAddressRecord, PendingSignInRecord } from "../records";
import { date, number, optionalDate, OPTIONS, text } from "../schema-fields";
import { KNOWN_ADDRESS_SECONDS } from "./known-address-store";

export const attemptsSchema = new Schema<AttemptsRecord>({ _id: text, count: number, endsAt: date, nextAt: optionalDate }, OPTIONS).index(
  { endsAt: 1 },
  { expireAfterSeconds: 0 },
);

export const knownAddressSchema = new Schema<KnownAddressRecord>({ _id: text, account: String, at: date }, OPTIONS).index(
  { at: 1 },
  { expireAfterSeconds: KNOWN_ADDRESS_SECONDS },
);

export const pendingSignInSchema = new Schema<PendingSignInRecord>(
  { _id: text, userId: text, network: text, sessionEpoch: number, expiresAt: date },
  OPTIONS,
).index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
