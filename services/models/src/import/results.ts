import { resultMember, type Modality } from "@nodeloom/kernel";
import { at, isJson, type Json } from "./draft";
import { plain } from "./inputs";

/** Finds the result in a provider's published response schema. */

const WORDS: Readonly<Record<string, Modality>> = {
  video: "video",
  audio: "audio",
  music: "audio",
  image: "image",
  text: "text",
  transcript: "text",
  glb: "model3d",
  mesh: "model3d",
};
/** Precedence if a result has several kinds of files. */
const ORDER: readonly Modality[] = ["model3d", "video", "audio", "image", "text"];

export interface Result {
  modality: Modality;
  outputs: Record<string, string>;
}

const hasUrl = (schema: Json): boolean => isJson(at(schema, "properties", "url"));

export const resultOf = (schema: unknown, components: Json): Result | undefined => {
  const candidates = Object.entries((at(schema, "properties") ?? {}) as Json).flatMap(([name, published]): [Modality, string][] => {
    const property = plain(published, components);
    const modality = Object.entries(WORDS).find(([word]) => name.toLowerCase().includes(word))?.[1];
    if (modality === undefined) return [];
    if (modality === "text") return property.type === "string" ? [[modality, `/${name}`]] : [];
    if (hasUrl(property)) return [[modality, `/${name}/url`]];
    return property.type === "array" && hasUrl(plain(property.items, components)) ? [[modality, `/${name}/*/url`]] : [];
  });
  const modality = ORDER.find((one) => candidates.some(([kind]) => kind === one));
  const pointer = candidates.find(([kind]) => kind === modality)?.[1];
  return modality && pointer !== undefined ? { modality, outputs: { [resultMember(modality)]: pointer } } : undefined;
};
