import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  UndefinedPayloadConverter,
  type Payload,
  type PayloadConverterWithEncoding,
} from "@temporalio/common";

/**
 * Converts values to payloads with the engine's own encoder; the bytes are the default ones. The SDK's encoder is written in JavaScript
 * and took a quarter of the CPU for a run with six megabytes. Loaded by clients, workers and workflows.
 */

const ENCODING = "json/plain";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const json: PayloadConverterWithEncoding = {
  encodingType: ENCODING,
  toPayload: (value): Payload | undefined => {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : { metadata: { encoding: encoder.encode(ENCODING) }, data: encoder.encode(text) };
  },
  fromPayload: <T>({ data }: Payload): T => {
    if (!data) throw new Error("a payload has no data");
    return JSON.parse(decoder.decode(data)) as T;
  },
};

export const payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), new BinaryPayloadConverter(), json);
