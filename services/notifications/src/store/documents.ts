import { Schema } from "mongoose";

/** A collection typed by its documents. Mongoose casts and adds nothing. */
export const documents = <T extends { _id: string }>(collection: string): Schema<T> =>
  new Schema<T>({ _id: String } as never, { collection, minimize: false, versionKey: false, strict: false });
