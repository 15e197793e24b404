/**
 * A text in which no half of a surrogate pair stands alone. Clients may send such halves, and cutting a text may leave one; they have no
 * UTF-8, and neither gRPC nor Temporal can carry them.
 */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\ufffd");
