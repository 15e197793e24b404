import type { MediaFile } from "@nodeloom/client";
import { fileName } from "../api/files";
import { ago } from "../ui/format";
import { FILE_TITLE } from "../messages/media";

/** Title of a file: its name, or else its origin. */
export const fileTitle = ({ id, origin, createdAt }: Pick<MediaFile, "id" | "origin" | "createdAt">): string =>
  fileName(id) ?? `${origin === "generated" ? FILE_TITLE.generated : FILE_TITLE.uploaded}${createdAt === null ? "" : ` ${ago(createdAt)}`}`;
