import { mediaFamily } from "@nodeloom/kernel/graph";
import type { MediaFile, Model } from "@nodeloom/client";

/** Newest outputs of each model for an account. */

export type Newest = ReadonlyMap<string, MediaFile>;

/** Newest file of each model. @param files newest first */
export const newestOf = (files: readonly MediaFile[]): Newest => {
  const newest = new Map<string, MediaFile>();
  for (const file of files) if (file.model !== null && !newest.has(file.model)) newest.set(file.model, file);
  return newest;
};

/** Newest file of a model, if it has the model's media type. */
export const newestFile = (
  newest: Newest | undefined,
  { internalName, modality }: Pick<Model, "internalName" | "modality">,
): MediaFile | undefined => {
  const file = newest?.get(internalName);
  return file && mediaFamily(file.contentType) === modality ? file : undefined;
};
