/** Options and fields that the schemas share. */

/** For documents with an `_id` of their own, and for their parts, which have none. */
export const OPTIONS = { versionKey: false, minimize: false, _id: false, id: false } as const;
export const text = { type: String, required: true } as const;
export const date = { type: Date, required: true } as const;
export const optionalDate = { type: Date, default: null } as const;
export const number = { type: Number, required: true } as const;

/** Not `required`, because that rejects empty texts. */
export const optionalText = { type: String, default: "" } as const;
