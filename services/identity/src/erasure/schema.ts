import { Schema } from "mongoose";
import type { ErasureRecord } from "../records";

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
