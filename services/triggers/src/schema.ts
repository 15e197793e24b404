import { Schema } from "mongoose";

/** A collection typed by its documents. Nothing is cast or added. */
export const documents = <T extends { _id: string }>(collection: string): Schema<T> =>
  new Schema<T>({ _id: String } as never, { collection, minimize: false, versionKey: false, strict: false });

/** A place of an owner, and the workflow of the schedule or hook that has it. */
export interface TakenPlace {
  slot: number;
  workflowSlug: string;
}
