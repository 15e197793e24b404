export interface DecodedWav {
  format: number;
  channels: number;
  sampleRate: number;
  bitsPerSample: number;
  samples: Int16Array;
  seconds: number;
}

export const decodeWav = (file: Buffer): DecodedWav => {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE") throw new Error("no WAV file");
  if (file.readUInt32LE(4) !== file.length - 8) throw new Error("the RIFF length is wrong");
  const chunks = new Map<string, Buffer>();
  for (let at = 12; at < file.length;) {
    const size = file.readUInt32LE(at + 4);
    chunks.set(file.toString("latin1", at, at + 4), file.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  const [format, data] = [chunks.get("fmt "), chunks.get("data")];
  if (!format || !data) throw new Error("a chunk is missing");
  const samples = Int16Array.from({ length: data.length / 2 }, (_, index) => data.readInt16LE(index * 2));
  const sampleRate = format.readUInt32LE(4);
  return {
    format: format.readUInt16LE(0),
    channels: format.readUInt16LE(2),
    sampleRate,
    bitsPerSample: format.readUInt16LE(14),
    samples,
    seconds: samples.length / sampleRate,
  };
};
