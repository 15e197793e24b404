import { fromHalf, toHalf } from "../../fetch/convert/half";
import type { ElementType, Onnx, Session, Tensor } from "../libraries";

/** Runs exported models with numbers. Exports differ in the element types of their inputs, which are converted. */

export interface Numbers {
  values: ArrayLike<number>;
  dims: readonly number[];
}

export interface Graph {
  /** Returns the first output. Numbers for inputs that the model doesn't have are ignored. @throws Error if an input is missing */
  run(numbers: Readonly<Record<string, Numbers>>): Promise<Numbers & { values: Float32Array }>;
  /** Returns the last size of an input; undefined if the model doesn't have the input or its size is unknown. */
  sizeOf(input: string): number | undefined;
  /** Returns the number of an input's dimensions. */
  rankOf(input: string): number;
}

const ELEMENTS: Readonly<Record<ElementType, (values: ArrayLike<number>) => Tensor["data"]>> = {
  float32: (values) => Float32Array.from(values),
  float16: (values) => toHalf(Float32Array.from(values)),
  int32: (values) => Int32Array.from(values),
  int64: (values) => BigInt64Array.from(Array.from(values), BigInt),
};

const floatsOf = ({ data }: Tensor): Float32Array =>
  data instanceof Uint16Array ? fromHalf(data) : Float32Array.from(data as ArrayLike<number>);

export const createGraph = ({ onnx, session }: { onnx: Onnx; session: Session }): Graph => {
  const inputs = new Map(session.inputMetadata.map((input) => [input.name, input]));
  const shapeOf = (name: string): readonly (number | string)[] => inputs.get(name)?.shape ?? [];
  return {
    run: async (numbers) => {
      const feeds = [...inputs.values()].map(({ name, type }): [string, Tensor] => {
        const input = numbers[name];
        const convert = Object.hasOwn(ELEMENTS, type) ? ELEMENTS[type] : undefined;
        if (!input || !convert) throw new Error(`the model has an input that isn't known: ${name} (${type})`);
        return [name, new onnx.Tensor(type, convert(input.values), input.dims)];
      });
      const outputs = await session.run(Object.fromEntries(feeds));
      const output = outputs[session.outputNames[0]!]!;
      return { values: floatsOf(output), dims: output.dims };
    },
    sizeOf: (input) => {
      const size = shapeOf(input).at(-1);
      return typeof size === "number" ? size : undefined;
    },
    rankOf: (input) => shapeOf(input).length,
  };
};
