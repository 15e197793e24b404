import { readFile } from "node:fs/promises";
import type { FolderAsset } from "@nodeloom/platform";
import { z } from "zod";

/**
 * Assets of `local-pictures`, except the engine: a latent consistency model in ONNX, in the folders of Optimum's exports. No checksums of
 * open weights could be verified for this release, so the operator names the files.
 */

export const PICTURE_ASSETS = {
  pictures: {
    kind: "folder",
    required: ["text_encoder/model.onnx", "unet/model.onnx", "vae_decoder/model.onnx", "tokenizer/vocab.json", "tokenizer/merges.txt"],
    bytes: 0,
    diskBytes: 0,
  },
} as const satisfies Record<string, FolderAsset>;

/** Variable with the path of the list of files. */
export const LIST_VARIABLE = "LOCAL_PICTURES_FILES";
const DOCS = "docs/guide/local-models.md#local-pictures";

const MAX_FILES = 50;
const MAX_BYTES = 20_000_000_000;
/** Names without a leading dot, so that a path can't leave the folder. */
const PATH = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*){0,3}$/;

const listSchema = z.strictObject({
  address: z.url({ protocol: /^https?$/ }).endsWith("/"),
  files: z
    .array(
      z.strictObject({ path: z.string().regex(PATH), bytes: z.int().min(1).max(MAX_BYTES), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
    )
    .max(MAX_FILES),
});

const listAt = async (path: string): Promise<z.infer<typeof listSchema>> => {
  const list = listSchema.safeParse(JSON.parse(await readFile(path, "utf8")));
  if (list.success) return list.data;
  const { path: member, message } = list.error.issues[0]!;
  throw new Error(`${member.join(".") || "the list"}: ${message}`);
};

/** The asset with the operator's list of files. Problems of the list are reported with the asset. */
export const pictureAsset = async (env: Readonly<Record<string, string | undefined>>): Promise<FolderAsset> => {
  const asset = PICTURE_ASSETS.pictures;
  const path = env[LIST_VARIABLE];
  if (!path) return { ...asset, problem: `${LIST_VARIABLE} must name the list of its files: see ${DOCS}` };
  try {
    const source = await listAt(path);
    const missing = asset.required.find((required) => !source.files.some((file) => file.path === required));
    if (missing !== undefined) throw new Error(`files: ${missing} is missing`);
    const bytes = source.files.reduce((sum, file) => sum + file.bytes, 0);
    return { ...asset, source, bytes, diskBytes: bytes };
  } catch (error) {
    return { ...asset, problem: `${LIST_VARIABLE} (${path}): ${(error as Error).message}. See ${DOCS}` };
  }
};
