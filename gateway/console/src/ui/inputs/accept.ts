/** Content types that file inputs accept. */

export const EVERY_FILE = "image/*,video/*,audio/*,model/*";

/** Value of a file chooser's `accept`. Browsers don't know the content type of GLB files, so it also has their extension. */
export const chooserTypes = (accept: string | undefined): string | undefined => accept?.replace("model/*", "model/*,.glb");

/** True if a content type matches one of the comma-separated types, such as `image/*`. */
export const isAcceptedType = (type: string, accept: string): boolean =>
  accept.split(",").some((one) => type.startsWith(one.replace("*", "")));
