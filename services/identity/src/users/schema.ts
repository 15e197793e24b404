import { Schema } from "mongoose";
import type { StopRecord } from "../records";

/** Time at which the account's runs were stopped. */
export const stopSchema = new Schema<StopRecord>(
  { id: { type: String, required: true }, at: { type: Date, required: true } },
  { _id: false, id: false },
);
