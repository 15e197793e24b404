import { LIMITS } from "../../limits";
import { textBytes } from "../bounds";
import { isRecord } from "../types";
import { shownName } from "../../text/shown-name";

/** Problems for texts in a value that are longer than the limit. */
export const longTexts = (value: unknown, path: string): string[] => {
  if (typeof value === "string")
    return textBytes(value) > LIMITS.textValueBytes ? [`${shownName(path)}: is longer than ${LIMITS.textValueBytes} bytes`] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => longTexts(item, `${path}.${index}`));
  return isRecord(value) ? Object.entries(value).flatMap(([name, item]) => longTexts(item, `${path}.${name}`)) : [];
};
