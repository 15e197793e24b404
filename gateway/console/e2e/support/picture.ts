import { crc32, deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BYTES_PER_PIXEL = 3;

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};

/** Coloured rings as compressed pixels. */
const ringsOf = (width: number, height: number): Buffer => {
  const rows = Buffer.alloc(height * (1 + width * BYTES_PER_PIXEL));
  for (let y = 0, at = 0; y < height; y += 1) {
    at += 1;
    for (let x = 0; x < width; x += 1) {
      const far = Math.hypot(x - width / 3, y - height / 2);
      rows[at] = 128 + 127 * Math.sin(far / 23);
      rows[at + 1] = 128 + 127 * Math.sin(far / 37);
      rows[at + 2] = (x * 255) / width;
      at += BYTES_PER_PIXEL;
    }
  }
  return deflateSync(rows, { level: 1 });
};

/** Creates PNGs of this size that look alike but differ as files by their number. */
export const picturesOf = (width: number, height: number): ((number: number) => Buffer) => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits for each of red, green and blue.
  head.set([8, 2], 8);
  const [first, data, last] = [chunk("IHDR", head), chunk("IDAT", ringsOf(width, height)), chunk("IEND", Buffer.alloc(0))];
  return (number) => Buffer.concat([SIGNATURE, first, chunk("tEXt", Buffer.from(`Comment\0${number}`, "latin1")), data, last]);
};
