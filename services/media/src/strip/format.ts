import type { Bytes, Edit } from "../marks/edits";

/** What is to change in a file so that it carries no texts; undefined where its bytes are not as its format has them. */
export type StripFormat = (bytes: Bytes) => Promise<Edit[] | undefined>;
