import type { Bytes, Edit } from "../marks/edits";

/** Returns edits that remove texts from a file; undefined if the file is malformed. */
export type StripFormat = (bytes: Bytes) => Promise<Edit[] | undefined>;
