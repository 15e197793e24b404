/** Replaces lone surrogates. Clients can send them and cutting a text can create them, but UTF-8, gRPC and Temporal don't support them. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\ufffd");
