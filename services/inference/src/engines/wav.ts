const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;
const MAX_SAMPLE = 32_767;

/** Creates a 16-bit WAV file. @param channels channels of equal length with values from -1 to 1; other values are clipped */
export const wavFile = (channels: readonly Float32Array[], sampleRate: number): Buffer => {
  const frames = channels[0]?.length ?? 0;
  const frameBytes = channels.length * SAMPLE_BYTES;
  const bytes = Buffer.alloc(HEADER_BYTES + frames * frameBytes);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(channels.length, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * frameBytes, 28);
  bytes.writeUInt16LE(frameBytes, 32);
  bytes.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(frames * frameBytes, 40);
  let at = HEADER_BYTES;
  for (let frame = 0; frame < frames; frame++) {
    for (const channel of channels) {
      const value = Math.max(-1, Math.min(1, channel[frame]!));
      at = bytes.writeInt16LE(Math.round(value * MAX_SAMPLE), at);
    }
  }
  return bytes;
};
