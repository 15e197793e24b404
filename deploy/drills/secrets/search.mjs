import { readings } from "../support/stores.mjs";

/** Searches for values in every byte form. It doesn't use the redaction code, so that neither hides faults of the other. */

/** The part of a value's base64 that doesn't depend on neighbouring bytes. @param {string} value @param {BufferEncoding} encoding */
const inBase64 = (value, encoding) =>
  ["", "x", "xx"].map((before) => {
    const text = Buffer.from(before + value)
      .toString(encoding)
      .replaceAll("=", "");
    return text.slice(before.length === 0 ? 0 : before.length + 1, (before.length + value.length) % 3 === 0 ? undefined : -1);
  });

/** @param {string} value @returns {string[]} */
export const formsOf = (value) => [
  ...new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    encodeURIComponent(value).toLowerCase(),
    new URLSearchParams([["", value]]).toString().slice(1),
    Buffer.from(value).toString("hex"),
    ...inBase64(value, "base64"),
    ...inBase64(value, "base64url"),
  ]),
];

/** Searches content for values. */
export const createSearch = () => {
  /** @type {{ name: string, bytes: Buffer }[]} */
  const forms = [];
  /** @type {Map<string, Map<string, number>>} number of matches by place and value */
  const places = new Map();
  /** @type {Map<string, number>} by place */
  const looked = new Map();
  return {
    found: places,
    looked,
    /** @param {Record<string, string>} values values by name */
    add: (values) => {
      for (const [name, value] of Object.entries(values)) for (const form of formsOf(value)) forms.push({ name, bytes: Buffer.from(form) });
    },
    /** @param {string} place @param {Uint8Array | string} content */
    look: (place, content) => {
      for (const part of readings(content)) {
        looked.set(place, (looked.get(place) ?? 0) + part.length);
        for (const { name, bytes } of forms) {
          if (!part.includes(bytes)) continue;
          const counts = places.get(place) ?? new Map();
          places.set(place, counts.set(name, (counts.get(name) ?? 0) + 1));
        }
      }
    },
  };
};
