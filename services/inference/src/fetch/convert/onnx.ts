import { toHalf } from "./half";

/** Writes ONNX models with the subset of their protocol buffers that the conversions need. */

const VARINT = 0;
const BYTES = 2;
const FIXED32 = 5;

const varint = (value: number | bigint): Buffer => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
};
const key = (field: number, type: number): Buffer => varint((field << 3) | type);
const integer = (field: number, value: number): Buffer => Buffer.concat([key(field, VARINT), varint(value)]);
const bytes = (field: number, value: Uint8Array): Buffer => Buffer.concat([key(field, BYTES), varint(value.length), value]);
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));
const float = (field: number, value: number): Buffer => {
  const four = Buffer.alloc(4);
  four.writeFloatLE(value);
  return Buffer.concat([key(field, FIXED32), four]);
};

/** Numeric codes of ONNX element and attribute types. */
const ELEMENT = { float32: 1, int64: 7, float16: 10 };
const ATTRIBUTE = { float: 1, int: 2, string: 3, ints: 7 };
/** Weights with fewer elements stay in full precision. */
const HALF_FROM = 2_000;

export type Attributes = Readonly<Record<string, number | string | readonly number[] | { float: number }>>;

const attribute = ([name, value]: [string, Attributes[string]]): Buffer => {
  if (typeof value === "string") return Buffer.concat([text(1, name), text(4, value), integer(20, ATTRIBUTE.string)]);
  if (typeof value === "number") return Buffer.concat([text(1, name), integer(3, value), integer(20, ATTRIBUTE.int)]);
  if ("float" in value) return Buffer.concat([text(1, name), float(2, value.float), integer(20, ATTRIBUTE.float)]);
  return Buffer.concat([text(1, name), ...value.map((one) => integer(8, one)), integer(20, ATTRIBUTE.ints)]);
};

const tensor = (name: string, dims: readonly number[], type: number, data: ArrayBufferView): Buffer =>
  Buffer.concat([
    ...dims.map((dim) => integer(1, dim)),
    integer(2, type),
    text(8, name),
    bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  ]);

const port = (name: string, dims: readonly (number | string)[]): Buffer => {
  const shape = dims.map((dim) => bytes(1, typeof dim === "string" ? text(2, dim) : integer(1, dim)));
  const type = Buffer.concat([integer(1, ELEMENT.float32), bytes(2, Buffer.concat(shape))]);
  return Buffer.concat([text(1, name), bytes(2, bytes(1, type))]);
};

export interface Port {
  name: string;
  /** Sizes. A name is a size that is known only at run time. */
  dims: readonly (number | string)[];
}

export interface OnnxBuilder {
  /** Adds a node with one output. @returns the output's name */
  node(type: string, inputs: readonly string[], attributes?: Attributes, output?: string): string;
  /** Adds a constant. @returns its name */
  floats(values: Float32Array | readonly number[], dims: readonly number[], name?: string): string;
  integers(values: readonly number[], dims: readonly number[]): string;
  /** Returns the serialized model. */
  finish(inputs: readonly Port[], outputs: readonly Port[]): Buffer;
}

/** @param isHalf stores convolution weights in half precision */
export const createOnnx = ({ name: graphName, opset, isHalf = false }: { name: string; opset: number; isHalf?: boolean }): OnnxBuilder => {
  const nodes: Buffer[] = [];
  const casts: Buffer[] = [];
  const constants: Buffer[] = [];
  let names = 0;
  const fresh = (): string => `t${++names}`;
  const nodeBytes = (type: string, inputs: readonly string[], output: string, attributes: Attributes): Buffer =>
    Buffer.concat([
      ...inputs.map((input) => text(1, input)),
      text(2, output),
      text(4, type),
      ...Object.entries(attributes).map((one) => bytes(5, attribute(one))),
    ]);
  return {
    node: (type, inputs, attributes = {}, output = fresh()) => {
      nodes.push(nodeBytes(type, inputs, output, attributes));
      return output;
    },
    floats: (values, dims, name = fresh()) => {
      const data = Float32Array.from(values);
      if (isHalf && dims.length === 4 && data.length > HALF_FROM) {
        constants.push(tensor(`${name}_h`, dims, ELEMENT.float16, toHalf(data)));
        casts.push(nodeBytes("Cast", [`${name}_h`], name, { to: ELEMENT.float32 }));
      } else constants.push(tensor(name, dims, ELEMENT.float32, data));
      return name;
    },
    integers: (values, dims) => {
      const name = fresh();
      constants.push(tensor(name, dims, ELEMENT.int64, BigInt64Array.from(values, BigInt)));
      return name;
    },
    finish: (inputs, outputs) => {
      const graph = Buffer.concat([
        ...[...casts, ...nodes].map((node) => bytes(1, node)),
        text(2, graphName),
        ...constants.map((constant) => bytes(5, constant)),
        ...inputs.map(({ name, dims }) => bytes(11, port(name, dims))),
        ...outputs.map(({ name, dims }) => bytes(12, port(name, dims))),
      ]);
      return Buffer.concat([integer(1, 8), bytes(7, graph), bytes(8, Buffer.concat([text(1, ""), integer(2, opset)]))]);
    },
  };
};
