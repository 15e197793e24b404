export const SAMPLE_RATE = 22_050;
const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;
const PCM = 1;
const MONO = 1;
const FULL_SCALE = 32_767;

/** Encodes a WAV file with 16-bit PCM, mono, at 22,050 Hz. Samples outside -1..1 are clipped. */
export const encodeWav = (samples: Float32Array): Buffer => {
  const dataBytes = samples.length * BYTES_PER_SAMPLE;
  const file = Buffer.allocUnsafe(HEADER_BYTES + dataBytes);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(PCM, 20);
  file.writeUInt16LE(MONO, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  file.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  file.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(dataBytes, 40);
  const data = new DataView(file.buffer, file.byteOffset + HEADER_BYTES, dataBytes);
  for (let index = 0; index < samples.length; index++) {
    const sample = samples[index]!;
    const clipped = sample > 1 ? 1 : sample < -1 ? -1 : sample;
    data.setInt16(index * BYTES_PER_SAMPLE, clipped * FULL_SCALE, true);
  }
  return file;
};
