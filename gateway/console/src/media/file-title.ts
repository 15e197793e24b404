import type { MediaFile } from "@nodeloom/client";
import { fileName } from "../api/files";
import { ago } from "../ui/format";

/** Title of a file: its name, else its origin. */
export const fileTitle = ({ id, origin, createdAt }: Pick<MediaFile, "id" | "origin" | "createdAt">): string =>
  fileName(id) ?? `${origin === "generated" ? "Made" : "Uploaded"}${createdAt === null ? "" : ` ${ago(createdAt)}`}`;
