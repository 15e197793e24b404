import { openZip } from "../zip";
import { fromHalf } from "./half";

/**
 * Reads PyTorch weights. Python pickles are programs; this interpreter supports only the few instructions that weights need and rejects all
 * others.
 */

export interface WeightsTensor {
  dims: readonly number[];
  data: Float32Array;
}

interface Global {
  global: string;
}
interface Storage {
  type: string;
  file: string;
}
type Value = unknown;

const MARK = Symbol("mark");
const REBUILD = "torch._utils _rebuild_tensor_v2";
const ORDERED = "collections OrderedDict";
const MAX_STEPS = 1_000_000;

const isGlobal = (value: Value): value is Global => typeof value === "object" && value !== null && "global" in value;

/** Interprets a pickle with a stack of plain values. @throws Error for an unsupported instruction */
const unpickle = (program: Buffer, tensor: (parts: Value[]) => WeightsTensor): Value => {
  let at = 0;
  const stack: Value[] = [];
  const memo = new Map<number, Value>();
  const line = (): string => {
    const end = program.indexOf(0x0a, at);
    if (end < 0) throw new Error("the pickle is cut off");
    const readLine = program.toString("utf8", at, end);
    at = end + 1;
    return readLine;
  };
  const take = (bytes: number): number => (at += bytes) - bytes;
  const sinceMark = (): Value[] => {
    const mark = stack.lastIndexOf(MARK);
    if (mark < 0) throw new Error("the pickle is damaged");
    const values = stack.splice(mark);
    values.shift();
    return values;
  };
  const target = (): Map<Value, Value> => {
    const top = stack.at(-1);
    if (!(top instanceof Map)) throw new Error("the pickle is damaged");
    return top as Map<Value, Value>;
  };
  const call = (callee: Value, parts: Value[]): Value => {
    if (isGlobal(callee) && callee.global === ORDERED) return new Map();
    if (isGlobal(callee) && callee.global === REBUILD) return tensor(parts);
    throw new Error("the pickle asks for something to be run");
  };
  const storage = (id: Value): Storage => {
    const [kind, type, file] = id as [string, Global, string];
    if (kind !== "storage" || !isGlobal(type)) throw new Error("the pickle is damaged");
    return { type: type.global, file };
  };
  const globalNamed = (name: string): Global => {
    if (name === REBUILD || name === ORDERED || /^torch \w+Storage$/.test(name)) return { global: name };
    throw new Error(`the pickle asks for ${name}`);
  };
  const instructions: Readonly<Record<string, () => void>> = {
    "\x80": () => void take(1),
    "}": () => void stack.push(new Map()),
    "(": () => void stack.push(MARK),
    ")": () => void stack.push([]),
    c: () => void stack.push(globalNamed(`${line()} ${line()}`)),
    q: () => void memo.set(program[take(1)]!, stack.at(-1)),
    r: () => void memo.set(program.readUInt32LE(take(4)), stack.at(-1)),
    h: () => void stack.push(memo.get(program[take(1)]!)),
    j: () => void stack.push(memo.get(program.readUInt32LE(take(4)))),
    X: () => {
      const length = program.readUInt32LE(take(4));
      const from = take(length);
      stack.push(program.toString("utf8", from, from + length));
    },
    K: () => void stack.push(program[take(1)]!),
    M: () => void stack.push(program.readUInt16LE(take(2))),
    J: () => void stack.push(program.readInt32LE(take(4))),
    "\x88": () => void stack.push(true),
    "\x89": () => void stack.push(false),
    t: () => void stack.push(sinceMark()),
    "\x85": () => void stack.push([stack.pop()]),
    Q: () => void stack.push(storage(stack.pop())),
    R: () => {
      const parts = stack.pop() as Value[];
      stack.push(call(stack.pop(), parts));
    },
    s: () => {
      const [value, name] = [stack.pop(), stack.pop()];
      target().set(name, value);
    },
    u: () => {
      const pairs = sinceMark();
      for (let index = 0; index < pairs.length; index += 2) target().set(pairs[index], pairs[index + 1]);
    },
    // A dictionary's state, other than its members, isn't needed.
    b: () => void stack.pop(),
  };
  for (let step = 0; step < MAX_STEPS; step++) {
    const code = String.fromCharCode(program[at++] ?? 0);
    if (code === ".") return stack.pop();
    const instruction = instructions[code];
    if (!instruction) throw new Error(`the pickle has an instruction that weights do not need (${JSON.stringify(code)})`);
    instruction();
  }
  throw new Error("the pickle does not end");
};

/** @returns tensors by name @throws Error for an invalid file */
export const readPytorch = (file: Buffer): Map<string, WeightsTensor> => {
  const zip = openZip(file);
  const index = zip.names.find((name) => name.endsWith("/data.pkl"));
  if (index === undefined) throw new Error("the file holds no weights of PyTorch");
  const root = index.slice(0, -"data.pkl".length);
  const valuesOf = ({ type, file: name }: Storage): Float32Array => {
    const bytes = Buffer.from(zip.read(`${root}data/${name}`));
    const view = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    if (type === "torch FloatStorage") return new Float32Array(view);
    if (type === "torch HalfStorage") return fromHalf(new Uint16Array(view));
    return new Float32Array();
  };
  const weights = unpickle(zip.read(index), ([storage, offset, dims]) => {
    const sizes = dims as number[];
    const from = offset as number;
    const count = sizes.reduce((product, size) => product * size, 1);
    return { dims: sizes, data: valuesOf(storage as Storage).slice(from, from + count) };
  });
  if (!(weights instanceof Map)) throw new Error("the file holds no weights");
  return weights as Map<string, WeightsTensor>;
};
