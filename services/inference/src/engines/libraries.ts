/**
 * Types of the parts of downloaded libraries that are used here. The libraries and their own types aren't dependencies of the workspace.
 */

export type ElementType = "float32" | "float16" | "int32" | "int64";

export interface Tensor {
  /** Half precision is represented by its bits. */
  data: Float32Array | Uint16Array | Int32Array | BigInt64Array;
  dims: readonly number[];
}

export interface Session {
  inputNames: readonly string[];
  outputNames: readonly string[];
  inputMetadata: readonly { name: string; type: ElementType; shape: readonly (number | string)[] }[];
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>;
}

interface SessionOptions {
  intraOpNumThreads: number;
  interOpNumThreads: number;
  /** In order of preference. Operations that the first one doesn't have run by the next one. */
  executionProviders?: readonly string[];
}

/** Types of `onnxruntime-node`. */
export interface Onnx {
  InferenceSession: { create(model: string | Uint8Array, options: SessionOptions): Promise<Session> };
  Tensor: new (type: ElementType, data: Tensor["data"], dims: readonly number[]) => Tensor;
}

interface RawInfo {
  width: number;
  height: number;
  channels: number;
}

interface RawInput {
  raw?: { width: number; height: number; channels: 1 | 3 | 4 };
  limitInputPixels?: number;
  failOn?: "error";
  pages?: 1;
}

export interface Picture {
  metadata(): Promise<{ width?: number; height?: number; hasAlpha?: boolean }>;
  autoOrient(): Picture;
  removeAlpha(): Picture;
  ensureAlpha(): Picture;
  extractChannel(channel: "alpha"): Picture;
  toColourspace(space: "srgb" | "b-w"): Picture;
  resize(width: number, height: number, options: { fit: "fill" | "cover" | "inside"; kernel?: "cubic" | "lanczos3" }): Picture;
  joinChannel(data: Buffer, options: { raw: { width: number; height: number; channels: 1 } }): Picture;
  raw(): Picture;
  png(): Picture;
  toBuffer(): Promise<Buffer>;
  toBuffer(options: { resolveWithObject: true }): Promise<{ data: Buffer; info: RawInfo }>;
  toFile(path: string): Promise<unknown>;
}

export type Sharp = (input: string | Buffer, options?: RawInput) => Picture;

/** Types of `@napi-rs/whisper`. */
export interface Whisper {
  Whisper: {
    new (model: string): {
      isMultilingual: number;
      /** Language of the last transcription. */
      fullLangId: number;
      full(params: WhisperParams, samples: Float32Array): string;
    };
    /** @returns a negative number for an unknown language */
    langId(language: string): number;
    lang(id: number): string | null;
  };
  WhisperFullParams: new (strategy: number) => WhisperParams;
  WhisperSamplingStrategy: { Greedy: number };
}

export interface WhisperParams {
  language: string;
  nThreads: number;
  printProgress: boolean;
  printRealtime: boolean;
  printTimestamps: boolean;
  noTimestamps: boolean;
  tokenTimestamps: boolean;
  splitOnWord: boolean;
  maxLen: number;
  onProgress: (percent: number) => void;
  onNewSegment: (segment: { text: string; start: number; end: number }) => void;
}

/** Types of `@gutenye/ocr-node`. */
export interface OcrLibrary {
  default: {
    create(options: { onnxOptions: { intraOpNumThreads: number } }): Promise<{
      detect(path: string): Promise<{ text: string; mean: number; box?: number[][] }[]>;
    }>;
  };
}

/** Types of `spessasynth_core`. */
export interface Synth {
  SoundBankLoader: { fromArrayBuffer(bytes: ArrayBuffer): unknown };
  SpessaSynthProcessor: new (
    sampleRate: number,
    options: { enableEventSystem: boolean },
  ) => {
    processorInitialized: Promise<unknown>;
    soundBankManager: { addSoundBank(bank: unknown, id: string): void };
    noteOn(channel: number, note: number, velocity: number): void;
    noteOff(channel: number, note: number): void;
    programChange(channel: number, program: number): void;
    process(left: Float32Array, right: Float32Array, from: number, count: number): void;
  };
}

export type ChatItem = { type: "system" | "user"; text: string } | { type: "model"; response: string[] };

interface ChatSequence {
  tokenMeter: { usedInputTokens: number; usedOutputTokens: number };
  dispose(): void;
}

/** Types of `node-llama-cpp`. */
export interface LlamaLibrary {
  getLlama(options: { gpu: string | false; build: "never"; logLevel: string; maxThreads: number }): Promise<Llama>;
  LlamaLogLevel: { error: string };
  LlamaChatSession: new (options: { contextSequence: ChatSequence; systemPrompt?: string }) => {
    setChatHistory(history: readonly ChatItem[]): void;
    promptWithMeta(
      text: string,
      options: {
        maxTokens: number;
        temperature: number;
        seed?: number;
        grammar?: unknown;
        onTextChunk: (piece: string) => void;
        repeatPenalty?: { penalty: number; lastTokens: number };
      },
    ): Promise<{ responseText: string; stopReason: string }>;
    dispose(): void;
  };
}

export interface Llama {
  loadModel(options: { modelPath: string }): Promise<{
    tokenize(text: string): readonly number[];
    /** Context size with which the model was trained. */
    trainContextSize: number;
    createContext(options: { contextSize: number; threads: number }): Promise<{ getSequence(): ChatSequence }>;
  }>;
  createGrammarForJsonSchema(schema: object): Promise<unknown>;
}
