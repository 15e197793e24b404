import { Schema } from "mongoose";
import type { ErasureRecord, StopRecord } from "../records";

/** Time at which the account's runs were stopped. */
export const stopSchema = new Schema<StopRecord>(
  { id: { type: String, required: true }, at: { type: Date, required: true } },
  { _id: false, id: false },
);

/** Set while an erasure is scheduled. */
export const erasureSchema = new Schema<ErasureRecord>(
  {
    requestedAt: { type: Date, required: true },
    erasesAt: { type: Date, required: true },
    begunAt: { type: Date, default: null },
    endedAt: { type: Date, default: null },
    knownAs: { type: String, default: "" },
  },
  { _id: false, id: false },
);
