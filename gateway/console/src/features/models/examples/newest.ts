import type { MediaFile, Model } from "@nodeloom/client";

/** What models have made for an account itself. */

export type Newest = ReadonlyMap<string, MediaFile>;

/** The newest file of each model. @param files the newest first */
export const newestOf = (files: readonly MediaFile[]): Newest => {
  const newest = new Map<string, MediaFile>();
  for (const file of files) if (file.model !== null && !newest.has(file.model)) newest.set(file.model, file);
  return newest;
};

/** The newest file of a model, where it is of the kind that the model makes. */
export const newestFile = (
  newest: Newest | undefined,
  { internalName, modality }: Pick<Model, "internalName" | "modality">,
): MediaFile | undefined => {
  const file = newest?.get(internalName);
  return file?.contentType.startsWith(`${modality}/`) ? file : undefined;
};
