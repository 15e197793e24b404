import type { MediaFile } from "@nodeloom/client";
import { fileName } from "../api/files";
import { ago } from "../ui/format";
import { FILE_TITLE } from "../messages/media";

/** Title of a file: its name, else the beginning of its prompt, else its origin. */
export const fileTitle = ({ id, origin, createdAt, title }: Pick<MediaFile, "id" | "origin" | "createdAt" | "title">): string =>
  fileName(id) ??
  title ??
  `${origin === "generated" ? FILE_TITLE.generated : FILE_TITLE.uploaded}${createdAt === null ? "" : ` ${ago(createdAt)}`}`;
