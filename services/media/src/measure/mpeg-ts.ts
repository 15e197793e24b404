import type { Measurements } from "./measure";
import type { ReadAt } from "./tiff";

/** MPEG-TS with MPEG-1 or MPEG-2 video (ISO/IEC 13818-1 and 13818-2), which the container library doesn't read. */

const PACKET_BYTES = 188;
const SYNC = 0x47;
/** In M2TS, each packet begins with a four-byte timestamp. */
const STRIDES = [PACKET_BYTES, PACKET_BYTES + 4] as const;
const HEAD_BYTES = 2 * 1_024 * 1_024;
const TAIL_BYTES = 1_024 * 1_024;
const VIDEO_TYPES: ReadonlySet<number> = new Set([0x01, 0x02]);
const SEQUENCE = Buffer.from([0, 0, 1, 0xb3]);
/** Aspect ratios of the displayed picture by code. All other codes mean square pixels. */
const ASPECTS: Readonly<Record<number, number>> = { 2: 4 / 3, 3: 16 / 9, 4: 2.21 };
const FRAME_RATES = [0, 24_000 / 1_001, 24, 25, 30_000 / 1_001, 30, 50, 60_000 / 1_001, 60];
const CLOCK_HZ = 90_000;
const CLOCK_LIMIT = 2 ** 33;
const MS = 1_000;

interface Packet {
  pid: number;
  isStart: boolean;
  payload: Buffer;
}

const packetsOf = function* (bytes: Buffer): Iterable<Packet> {
  const isSynced = (at: number, stride: number): boolean => [0, 1, 2].every((count) => bytes[at + count * stride] === SYNC);
  let at = 0;
  let stride: number | undefined;
  while (stride === undefined && at + 3 * PACKET_BYTES <= bytes.length) {
    stride = STRIDES.find((one) => isSynced(at, one));
    if (stride === undefined) at += 1;
  }
  if (stride === undefined) return;
  for (; at + PACKET_BYTES <= bytes.length; at += stride) {
    const packet = bytes.subarray(at, at + PACKET_BYTES);
    const control = (packet[3]! >> 4) & 3;
    if (packet[0] !== SYNC || (control & 1) === 0) continue;
    const start = control === 3 ? 5 + packet[4]! : 4;
    yield { pid: packet.readUInt16BE(1) & 0x1fff, isStart: (packet[1]! & 0x40) !== 0, payload: packet.subarray(start) };
  }
};

/** Content of a table section that starts in a packet. */
const sectionOf = ({ payload }: Packet): Buffer => {
  const start = 1 + (payload[0] ?? 0);
  const length = payload.length >= start + 3 ? payload.readUInt16BE(start + 1) & 0xfff : 0;
  // Excludes the header and the checksum.
  return payload.subarray(start + 8, start + 3 + length - 4);
};

const videoIn = (section: Buffer): number | undefined => {
  for (let at = 4 + (section.readUInt16BE(2) & 0xfff); at + 5 <= section.length; at += 5 + (section.readUInt16BE(at + 3) & 0xfff))
    if (VIDEO_TYPES.has(section[at]!)) return section.readUInt16BE(at + 1) & 0x1fff;
  return undefined;
};

/** Packet id of the first MPEG video; undefined if there is none. */
const videoPid = (packets: readonly Packet[]): number | undefined => {
  const starts = packets.filter(({ isStart }) => isStart);
  const programs = starts.find(({ pid }) => pid === 0);
  const map = programs && sectionOf(programs).readUInt16BE(2) & 0x1fff;
  const streams = map === undefined ? undefined : starts.find(({ pid }) => pid === map);
  return streams && videoIn(sectionOf(streams));
};

/** Presentation time, in ticks, of a packet that starts a picture. */
const timeOf = ({ isStart, payload }: Packet): number | undefined => {
  if (!isStart || payload.length < 14 || payload.readUIntBE(0, 3) !== 1 || (payload[7]! & 0x80) === 0) return undefined;
  return ((payload[9]! >> 1) & 7) * 2 ** 30 + (payload.readUInt16BE(10) >> 1) * 2 ** 15 + (payload.readUInt16BE(12) >> 1);
};

const timesOf = (packets: Iterable<Packet>, pid: number): number[] =>
  [...packets].flatMap((packet) => (packet.pid === pid ? (timeOf(packet) ?? []) : []));

/** @returns undefined if the file has no MPEG video */
export const mpegVideoOf = async (readAt: ReadAt, size: number): Promise<Measurements | undefined> => {
  const packets = [...packetsOf(await readAt(0, HEAD_BYTES))];
  const pid = videoPid(packets);
  if (pid === undefined) return undefined;
  const stream = Buffer.concat(packets.flatMap((packet) => (packet.pid === pid ? [packet.payload] : [])));
  const at = stream.indexOf(SEQUENCE);
  if (at < 0) return {};
  const sides = stream.readUIntBE(at + 4, 3);
  const [width, height, codes] = [sides >> 12, sides & 0xfff, stream[at + 7]!];
  const aspect = ASPECTS[codes >> 4];
  const first = Math.min(...timesOf(packets, pid));
  const ticks = timesOf(packetsOf(await readAt(Math.max(0, size - TAIL_BYTES), TAIL_BYTES)), pid);
  const last = Math.max(...ticks.map((time) => (time < first ? time + CLOCK_LIMIT : time)));
  const rate = FRAME_RATES[codes & 15] ?? 0;
  const seconds = (last - first) / CLOCK_HZ + (rate > 0 ? 1 / rate : 0);
  return {
    ...{ width: aspect === undefined ? width : Math.round(height * aspect), height },
    ...(Number.isFinite(seconds) ? { durationMs: Math.round(seconds * MS) } : {}),
  };
};
