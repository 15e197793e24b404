/** XMP packets, which are RDF/XML metadata for images, MP4, WAV and MP3 (ISO 16684-1). */

/** Terms of the IPTC vocabulary: https://cv.iptc.org/newscodes/digitalsourcetype/ */
export const SOURCE_TYPES = ["trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia", "algorithmicMedia"] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

const VOCABULARY = "http://cv.iptc.org/newscodes/digitalsourcetype/";
const NAMESPACE = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Maximum packet that is edited. Larger packets stay unchanged. */
export const MAX_PACKET_BYTES = 1024 * 1024;

const PROPERTY = /(:DigitalSourceType(?:\s*=\s*["']|\s*>\s*))([^"'<]*)/;
const END_OF_RDF = /<\/[A-Za-z_][\w.-]*:RDF\s*>/;
const ABOUT = /\s[A-Za-z_][\w.-]*:about\s*=\s*("[^"<]*"|'[^'<]*')/;
const END_OF_PACKET = "<?xpacket end=";

export const addressOf = (type: SourceType): string => VOCABULARY + type;

/** True if a value states that a model or program generated the file. */
export const saysGenerated = (text: string): boolean => SOURCE_TYPES.some((type) => text.includes(VOCABULARY + type));

const description = (type: SourceType, about: string): string =>
  `<rdf:Description xmlns:rdf="${RDF}" rdf:about=${about} xmlns:Iptc4xmpExt="${NAMESPACE}" Iptc4xmpExt:DigitalSourceType="${addressOf(type)}"/>`;

/** Creates a packet that contains only the source type. */
export const newPacket = (type: SourceType): Buffer =>
  Buffer.from(
    `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="${RDF}">` +
      `${description(type, '""')}</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`,
  );

/** Removes trailing white space, which packets reserve for in-place edits. */
const withoutPadding = (packet: string): string => {
  const end = packet.indexOf(END_OF_PACKET);
  return end < 0 ? packet : `${packet.slice(0, end).trimEnd()}\n${packet.slice(end)}`;
};

/**
 * Adds the mark to a packet and removes its padding.
 * @returns "marked" if the packet has a mark, or undefined if it isn't a UTF-8 packet
 */
export const addTo = (packet: Buffer, type: SourceType): Buffer | "marked" | undefined => {
  const text = packet.toString("utf8");
  if (text.includes("\0") || !text.includes(RDF)) return undefined;
  const property = PROPERTY.exec(text);
  if (property && saysGenerated(property[2]!)) return "marked";
  if (property) return Buffer.from(text.replace(PROPERTY, (_, start: string) => start + addressOf(type)));
  const end = END_OF_RDF.exec(text);
  if (!end) return undefined;
  // All descriptions in a packet have one subject.
  const about = ABOUT.exec(text)?.[1] ?? '""';
  const added = text.slice(0, end.index) + description(type, about) + text.slice(end.index);
  return Buffer.from(withoutPadding(added));
};
