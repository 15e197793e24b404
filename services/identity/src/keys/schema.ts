import { Schema } from "mongoose";
import { date, number, optionalDate, OPTIONS, text } from "../schema-fields";
import type { KeyRecord, RunSecretRecord } from "./records";

const signingSecret = new Schema({ sealed: text, createdAt: date }, OPTIONS);
export const runSecretSchema = new Schema<RunSecretRecord>({ _id: text, secrets: { type: [signingSecret], required: true } }, OPTIONS);

export const keySchema = new Schema<KeyRecord>(
  {
    _id: text,
    userId: text,
    madeBy: { type: String },
    slot: number,
    epoch: number,
    name: text,
    start: text,
    preset: text,
    capabilities: { type: [String], required: true },
    // A list, because names can contain dots.
    metadata: { type: [new Schema({ name: text, value: { type: String, default: "" } }, OPTIONS)], default: [] },
    alias: { type: String, default: undefined },
    hashes: { type: [String], required: true },
    rotation: { type: new Schema({ graceSeconds: number, previousEndsAt: optionalDate }, OPTIONS), default: null },
    webhook: {
      type: new Schema(
        {
          url: text,
          events: { type: [String], required: true },
          disabledAt: optionalDate,
          disabledReason: { type: String, default: "" },
          revision: text,
          failingSince: optionalDate,
        },
        OPTIONS,
      ),
      default: null,
    },
    webhookSecrets: { type: [signingSecret], required: true },
    createdAt: date,
    lastUsedAt: optionalDate,
    expiresAt: optionalDate,
    requests: { type: Number, default: undefined },
  },
  OPTIONS,
)
  // Finds the key of every authenticated request.
  .index({ hashes: 1 }, { unique: true })
  // Finds an owner's keys and bounds their number.
  .index({ userId: 1, slot: 1 }, { unique: true })
  // Finds keys that end when their creator loses approval.
  .index({ madeBy: 1 });
