import { fromHalf } from "./half";
import { createOnnx, type OnnxBuilder } from "./onnx";

/** Converts ncnn models for upscaling (a text with layers, and consecutive weights) to ONNX. */

/** Tag of half-precision weights. */
const HALF = 0x01306b47;
const BINARY_OPERATIONS = ["Add", "Sub", "Mul", "Div"];
const COLOURS = 3;

interface Weights {
  floats(count: number): Float32Array;
  /** Reads weights that start with a tag for their format. */
  marked(count: number): Float32Array;
  rest(): number;
}

const weightsOf = (file: Buffer): Weights => {
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > file.length) throw new Error("the weights end too early");
    const part = Buffer.from(file.subarray(at, at + count));
    at += count;
    return part;
  };
  const floats = (count: number): Float32Array => {
    const part = take(count * 4);
    return Float32Array.from({ length: count }, (_, index) => part.readFloatLE(index * 4));
  };
  return {
    floats,
    marked: (count) => {
      const mark = take(4).readUInt32LE();
      if (mark === 0) return floats(count);
      if (mark !== HALF) throw new Error(`the weights are in a form that is not known (${mark.toString(16)})`);
      const part = take(Math.ceil(count / 2) * 4);
      return fromHalf(Uint16Array.from({ length: count }, (_, index) => part.readUInt16LE(index * 2)));
    },
    rest: () => file.length - at,
  };
};

interface Layer {
  type: string;
  name: string;
  inputs: string[];
  outputs: string[];
  /** Returns a parameter by index. */
  parameter(id: number, otherwise?: number): number;
  /** A parameter that is a list. */
  list(id: number): number[];
}

/** A list parameter's index is this number minus its id. The list starts with its length. */
const LIST_BASE = -23_300;

const layerOf = (line: string): Layer => {
  const [type = "", name = "", inputs = "", outputs = "", ...rest] = line.trim().split(/\s+/);
  const [before, after] = [Number(inputs), Number(inputs) + Number(outputs)];
  const parameters = new Map(
    rest.slice(after).map((pair): [number, number[]] => {
      const [id = "", values = ""] = pair.split("=");
      return [Number(id), values.split(",").map(Number)];
    }),
  );
  return {
    type,
    name,
    inputs: rest.slice(0, before),
    outputs: rest.slice(before, after),
    parameter: (id, otherwise = 0) => parameters.get(id)?.[0] ?? otherwise,
    list: (id) => parameters.get(LIST_BASE - id)?.slice(1) ?? [],
  };
};

/** Activation functions that are part of a convolution. */
const ACTIVATION = { none: 0, leakyRelu: 2 };

const addConvolution = (onnx: OnnxBuilder, layer: Layer, weights: Weights, from: string): void => {
  const { name, inputs, outputs, parameter } = layer;
  const [channels, kernel, padding, stride, count] = [parameter(0), parameter(1), parameter(4), parameter(3, 1), parameter(6)];
  const depth = count / channels / kernel / kernel;
  const parts = [from, onnx.floats(weights.marked(count), [channels, depth, kernel, kernel], `${name}.w`)];
  if (parameter(5)) parts.push(onnx.floats(weights.floats(channels), [channels], `${name}.b`));
  if (inputs.length !== 1) throw new Error(`${name}: it has ${inputs.length} inputs`);
  const attributes = { kernel_shape: [kernel, kernel], pads: [padding, padding, padding, padding], strides: [stride, stride] };
  const output = outputs[0]!;
  const activation = parameter(9);
  if (activation === ACTIVATION.none) return void onnx.node("Conv", parts, attributes, output);
  if (activation !== ACTIVATION.leakyRelu) throw new Error(`${name}: its activation is not known`);
  const convolved = onnx.node("Conv", parts, attributes, `${output}_c`);
  onnx.node("LeakyRelu", [convolved], { alpha: { float: layer.list(10)[0] ?? 0 } }, output);
};

const SUM = 1;

/** Adds a weighted sum of inputs. */
const addSum = (onnx: OnnxBuilder, { name, outputs, parameter, list }: Layer, inputs: readonly string[]): void => {
  if (parameter(0) !== SUM) throw new Error(`${name}: its operation is not known`);
  const weighted = inputs.map((input, index) => {
    const weight = list(1)[index] ?? 1;
    return weight === 1 ? input : onnx.node("Mul", [input, onnx.floats([weight], [], `${name}.k${index}`)], {}, `${name}.m${index}`);
  });
  onnx.node("Add", weighted, {}, outputs[0]);
};

const NEAREST = 1;

const addResize = (onnx: OnnxBuilder, { name, outputs, parameter }: Layer, input: string): void => {
  if (parameter(0) !== NEAREST) throw new Error(`${name}: its way to resize is not known`);
  const scales = onnx.floats([1, 1, parameter(1), parameter(2)], [4], `${name}.s`);
  const attributes = { mode: "nearest", coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
  onnx.node("Resize", [input, "", scales], attributes, outputs[0]);
};

/** Adds a layer that has no weights and is equal in both formats. */
const addPlain = (onnx: OnnxBuilder, layer: Layer, inputs: readonly string[]): void => {
  const { type, name, parameter, outputs } = layer;
  const output = outputs[0]!;
  switch (type) {
    case "BinaryOp": {
      const other = parameter(1) ? [onnx.floats([parameter(2)], [], `${name}.k`)] : [];
      onnx.node(BINARY_OPERATIONS[parameter(0)]!, [...inputs, ...other], {}, output);
      break;
    }
    case "Eltwise":
      addSum(onnx, layer, inputs);
      break;
    case "Sigmoid":
      onnx.node("Sigmoid", inputs, {}, output);
      break;
    case "Swish":
      onnx.node("Mul", [inputs[0]!, onnx.node("Sigmoid", inputs, {}, `${output}_s`)], {}, output);
      break;
    case "Concat":
      onnx.node("Concat", inputs, { axis: 1 }, output);
      break;
    case "Interp":
      addResize(onnx, layer, inputs[0]!);
      break;
    case "PixelShuffle":
      onnx.node("DepthToSpace", inputs, { blocksize: parameter(0), mode: "CRD" }, output);
      break;
    default:
      throw new Error(`there is no conversion of the layer ${type}`);
  }
};

/**
 * @param param text with the layers
 * @param bin weights
 * @param isHalf keeps weights in half precision
 * @throws Error for unsupported layers
 */
export const ncnnToOnnx = (param: string, bin: Buffer, isHalf = false): Buffer => {
  const onnx = createOnnx({ name: "g", opset: 17, isHalf });
  const weights = weightsOf(bin);
  const aliases = new Map<string, string>();
  const nameOf = (name: string): string => aliases.get(name) ?? name;
  let last = "";
  const lines = param
    .split("\n")
    .slice(2)
    .filter((line) => line.trim() !== "");
  for (const layer of lines.map(layerOf)) {
    const { type, parameter, outputs } = layer;
    const inputs = layer.inputs.map(nameOf);
    const output = outputs[0]!;
    switch (type) {
      case "Input":
        aliases.set(output, "data");
        break;
      case "Split":
        for (const copy of outputs) aliases.set(copy, inputs[0]!);
        break;
      case "MemoryData": {
        const [width, height, channels] = [parameter(0), parameter(1), parameter(2)].map((size) => Math.max(1, size));
        onnx.floats(weights.floats(width! * height! * channels!), [1, channels!, height!, width!], output);
        break;
      }
      case "Convolution":
        addConvolution(onnx, layer, weights, inputs[0]!);
        break;
      default:
        addPlain(onnx, layer, inputs);
    }
    last = output;
  }
  if (weights.rest() !== 0) throw new Error(`${weights.rest()} bytes of weights are left over`);
  return onnx.finish([{ name: "data", dims: [1, COLOURS, "h", "w"] }], [{ name: nameOf(last), dims: [1, COLOURS, "H", "W"] }]);
};
