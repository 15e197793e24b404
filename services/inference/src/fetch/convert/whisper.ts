import { fromHalf, toHalf } from "./half";

/** Converts Whisper models of CTranslate2 to the format of whisper.cpp. */

const FLOAT16 = 4;
const FLOAT32 = 0;
const GGML_MAGIC = 0x67676d6c;
const AUDIO_CONTEXT = 1_500;
const MELS = 80;
const SAMPLE_RATE = 16_000;
const FFT_SIZE = 400;
const TOP_MEL = 45.245640471924965;
/** Attention heads by layer width. */
const HEADS: Readonly<Record<number, number>> = { 384: 6, 512: 8, 768: 12 };
/** Size of the English vocabulary, with and without special tokens. */
const ENGLISH = { all: 51_864, text: 50_256 };
const MULTILINGUAL_TEXT = 50_257;

interface Tensor {
  dims: number[];
  /** Half-precision bits, or floats. */
  data: Uint16Array | Float32Array;
}

/** @throws Error for an unsupported format */
const readModel = (file: Buffer): Map<string, Tensor> => {
  let at = 0;
  const take = (bytes: number): number => (at += bytes) - bytes;
  const byte = (): number => file.readUInt8(take(1));
  const word = (): number => file.readUInt32LE(take(4));
  const name = (): string => {
    const length = file.readUInt16LE(take(2));
    const from = take(length);
    return file.toString("utf8", from, from + length - 1);
  };
  const version = word();
  if (version < 4) throw new Error(`the model's form is not known (${version})`);
  name();
  word();
  const tensors = new Map<string, Tensor>();
  for (let count = word(); count > 0; count--) {
    const key = name();
    const dims = Array.from({ length: byte() }, word);
    const type = byte();
    const length = word();
    const bytes = Buffer.from(file.subarray(at, at + length));
    take(length);
    const view = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + length) as ArrayBuffer;
    if (type === FLOAT16) tensors.set(key, { dims, data: new Uint16Array(view) });
    else if (type === FLOAT32) tensors.set(key, { dims, data: new Float32Array(view) });
  }
  for (let count = word(); count > 0; count--) {
    const alias = name();
    const original = tensors.get(name());
    if (original) tensors.set(alias, original);
  }
  return tensors;
};

/** Splits fused layers into equal parts. */
const split = ({ dims, data }: Tensor, parts: number): Tensor[] => {
  const size = data.length / parts;
  return Array.from({ length: parts }, (_, index) => ({
    dims: [dims[0]! / parts, ...dims.slice(1)],
    data: data.slice(index * size, (index + 1) * size),
  }));
};

/** Tensors in whisper.cpp's order, with its names. */
const renamed = (source: ReadonlyMap<string, Tensor>): Map<string, Tensor> => {
  const target = new Map<string, Tensor>();
  const get = (name: string): Tensor => {
    const tensor = source.get(name);
    if (!tensor) throw new Error(`the model has no ${name}`);
    return tensor;
  };
  const linear = (to: string, from: string): void => {
    target.set(`${to}.weight`, get(`${from}/weight`));
    target.set(`${to}.bias`, get(`${from}/bias`));
  };
  const norm = (to: string, from: string): void => {
    target.set(`${to}.weight`, get(`${from}/gamma`));
    target.set(`${to}.bias`, get(`${from}/beta`));
  };
  const attention = (to: string, from: string, isSelf: boolean): void => {
    const parts = (layer: string, count: number): [Tensor[], Tensor[]] => [
      split(get(`${from}/${layer}/weight`), count),
      split(get(`${from}/${layer}/bias`), count),
    ];
    const [weights, biases] = isSelf
      ? parts("linear_0", 3)
      : [parts("linear_0", 1), parts("linear_1", 2)].reduce(([a, b], [c, d]) => [
          [...a, ...c],
          [...b, ...d],
        ]);
    for (const [index, name] of ["query", "key", "value"].entries()) {
      target.set(`${to}.${name}.weight`, weights[index]!);
      // Keys have no bias.
      if (name !== "key") target.set(`${to}.${name}.bias`, biases[index]!);
    }
    linear(`${to}.out`, `${from}/${isSelf ? "linear_1" : "linear_2"}`);
  };
  const layers = (side: string): number => {
    let count = 0;
    while (source.has(`${side}/layer_${count}/ffn/linear_0/weight`)) count++;
    return count;
  };
  const feedForward = (to: string, from: string): void => {
    norm(`${to}.mlp_ln`, `${from}/ffn/layer_norm`);
    linear(`${to}.mlp.0`, `${from}/ffn/linear_0`);
    linear(`${to}.mlp.2`, `${from}/ffn/linear_1`);
  };
  const selfAttention = (to: string, from: string): void => {
    norm(`${to}.attn_ln`, `${from}/self_attention/layer_norm`);
    attention(`${to}.attn`, `${from}/self_attention`, true);
  };

  target.set("encoder.positional_embedding", get("encoder/position_encodings/encodings"));
  target.set("decoder.positional_embedding", get("decoder/position_encodings/encodings"));
  for (const index of [1, 2]) {
    target.set(`encoder.conv${index}.weight`, get(`encoder/conv${index}/weight`));
    const bias = get(`encoder/conv${index}/bias`);
    target.set(`encoder.conv${index}.bias`, { dims: [bias.data.length, 1], data: bias.data });
  }
  for (let index = 0; index < layers("encoder"); index++) {
    selfAttention(`encoder.blocks.${index}`, `encoder/layer_${index}`);
    feedForward(`encoder.blocks.${index}`, `encoder/layer_${index}`);
  }
  norm("encoder.ln_post", "encoder/layer_norm");
  target.set("decoder.token_embedding.weight", get("decoder/embeddings/weight"));
  for (let index = 0; index < layers("decoder"); index++) {
    const [to, from] = [`decoder.blocks.${index}`, `decoder/layer_${index}`];
    selfAttention(to, from);
    norm(`${to}.cross_attn_ln`, `${from}/attention/layer_norm`);
    attention(`${to}.cross_attn`, `${from}/attention`, false);
    feedForward(to, from);
  }
  norm("decoder.ln", "decoder/layer_norm");
  return target;
};

/** Mel filter bank on Slaney's scale. */
const melFilters = (): Float32Array => {
  const bins = FFT_SIZE / 2 + 1;
  const mels = Array.from({ length: MELS + 2 }, (_, index) => (index * TOP_MEL) / (MELS + 1));
  const [perMel, corner, step] = [200 / 3, 1_000, Math.log(6.4) / 27];
  const hertz = mels.map((mel) => (mel >= corner / perMel ? corner * Math.exp(step * (mel - corner / perMel)) : perMel * mel));
  const filters = new Float32Array(MELS * bins);
  for (let band = 0; band < MELS; band++) {
    const [low, middle, high] = [hertz[band]!, hertz[band + 1]!, hertz[band + 2]!];
    for (let bin = 0; bin < bins; bin++) {
      const frequency = (bin * SAMPLE_RATE) / FFT_SIZE;
      const weight = Math.min((frequency - low) / (middle - low), (high - frequency) / (high - middle));
      filters[band * bins + bin] = Math.max(0, weight) * (2 / (high - low));
    }
  }
  return filters;
};

/** The inverse of GPT-2's mapping of bytes to visible characters. */
const byteOfCharacter = (): Map<string, number> => {
  const visible = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const hidden = bytes.filter((byte) => !visible(byte));
  return new Map(bytes.map((byte) => [String.fromCharCode(visible(byte) ? byte : 256 + hidden.indexOf(byte)), byte]));
};

const integers = (...values: number[]): Buffer => Buffer.from(Int32Array.from(values).buffer);

const vocabulary = (tokenizer: string, count: number): Buffer[] => {
  const { model } = JSON.parse(tokenizer) as { model: { vocab: Record<string, number> } };
  const tokens = new Map(Object.entries(model.vocab).map(([token, id]) => [id, token]));
  const bytes = byteOfCharacter();
  return Array.from({ length: count }, (_, id) => {
    const token = Buffer.from([...(tokens.get(id) ?? "")].map((character) => bytes.get(character)!));
    return Buffer.concat([integers(token.length), token]);
  });
};

const tensorBytes = ([name, { dims, data }]: [string, Tensor]): Buffer => {
  const isHalf = dims.length > 1 && !name.includes("bias") && !name.includes("positional");
  const isHalfFloat = data instanceof Uint16Array;
  const values = isHalf ? (isHalfFloat ? data : toHalf(data)) : isHalfFloat ? fromHalf(data) : data;
  const key = Buffer.from(name);
  const shape = [...dims].reverse();
  const head = integers(dims.length, key.length, isHalf ? 1 : 0, ...shape);
  return Buffer.concat([head, key, new Uint8Array(values.buffer, values.byteOffset, values.byteLength)]);
};

/**
 * @param model CTranslate2's `model.bin`
 * @param tokenizer content of its `tokenizer.json`
 * @returns a model for whisper.cpp
 */
export const whisperToGgml = (model: Buffer, tokenizer: string): Buffer => {
  const source = readModel(model);
  const tensors = renamed(source);
  const [tokens = 0, width = 0] = tensors.get("decoder.token_embedding.weight")!.dims;
  const heads = HEADS[width];
  if (heads === undefined) throw new Error(`there is no Whisper of width ${width}`);
  const count = (side: string): number =>
    [...tensors.keys()].filter((name) => name.startsWith(`${side}.blocks.`) && name.endsWith(".attn_ln.bias")).length;
  const textContext = tensors.get("decoder.positional_embedding")!.dims[0]!;
  const texts = tokens === ENGLISH.all ? ENGLISH.text : MULTILINGUAL_TEXT;
  const filters = melFilters();
  return Buffer.concat([
    integers(GGML_MAGIC),
    integers(tokens, AUDIO_CONTEXT, width, heads, count("encoder"), textContext, width, heads, count("decoder"), MELS, 1),
    integers(MELS, filters.length / MELS),
    new Uint8Array(filters.buffer),
    integers(texts),
    ...vocabulary(tokenizer, texts),
    ...[...tensors].map(tensorBytes),
  ]);
};
