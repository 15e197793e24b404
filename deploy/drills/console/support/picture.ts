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

/** A PNG of so many pixels, another one for each seed: rings of colour around a place of its own. */
export const pictureOf = (width: number, height: number, seed: number): Buffer => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits for each of red, green and blue.
  head.set([8, 2], 8);
  const rows = Buffer.alloc(height * (1 + width * BYTES_PER_PIXEL));
  const [cx, cy] = [(seed * 97) % width, (seed * 61) % height];
  for (let y = 0, at = 0; y < height; y += 1) {
    at += 1;
    for (let x = 0; x < width; x += 1) {
      const far = Math.hypot(x - cx, y - cy);
      rows[at] = 128 + 127 * Math.sin(far / 23 + seed);
      rows[at + 1] = 128 + 127 * Math.sin(far / 37);
      rows[at + 2] = (x * 255) / width;
      at += BYTES_PER_PIXEL;
    }
  }
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("IDAT", deflateSync(rows, { level: 1 })), chunk("IEND", Buffer.alloc(0))]);
};
