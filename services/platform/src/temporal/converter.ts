import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  UndefinedPayloadConverter,
  type Payload,
  type PayloadConverterWithEncoding,
} from "@temporalio/common";

/**
 * Values as payloads: the same bytes as by default, made and read by the engine's own encoder. The SDK's is written in JavaScript:
 * of a run with six megabytes it took a quarter of the CPU. Loaded by clients, workers and workflows.
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
