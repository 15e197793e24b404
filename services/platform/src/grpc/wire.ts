import { BinaryReader } from "@bufbuild/protobuf/wire";

export const REQUEST_ID_KEY = "x-request-id";
/** Graphs are sent as JSON text of up to 8 MB. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Wire type for texts, bytes and messages. */
const LENGTH_DELIMITED = 2;

export interface Field {
  number: number;
  bytes: Uint8Array;
}

/** The length-delimited fields of an encoded message, in order. Other fields are skipped. */
export const readFields = (bytes: Uint8Array): Field[] => {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (Number(wireType) === LENGTH_DELIMITED) fields.push({ number, bytes: reader.bytes() });
    else reader.skip(wireType, number);
  }
  return fields;
};
