import type { MediaFile } from "@nodeloom/client";
import { fileName } from "../api/files";
import { ago } from "../ui/format";

/** What a file is called: its name, else how it came. */
export const fileTitle = ({ id, origin, createdAt }: Pick<MediaFile, "id" | "origin" | "createdAt">): string =>
  fileName(id) ?? `${origin === "generated" ? "Made" : "Uploaded"}${createdAt === null ? "" : ` ${ago(createdAt)}`}`;
