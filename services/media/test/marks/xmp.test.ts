import { addTo, MAX_PACKET_BYTES } from "../../src/marks/xmp";

const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const packet = (filling: string, end = '<?xpacket end="w"?>'): Buffer =>
  Buffer.from(`<x:xmpmeta><rdf:RDF xmlns:rdf="${RDF}">${filling}</rdf:RDF></x:xmpmeta>${filling}${end}`);

it("adds the mark and removes the padding for changes", () => {
  const marked = addTo(packet("\n   \n"), "trainedAlgorithmicMedia")!.toString();
  expect(marked).toContain("Iptc4xmpExt:DigitalSourceType=");
  expect(marked).toContain('</x:xmpmeta>\n<?xpacket end="w"?>');
});

/** Inputs that would take a quadratic parser minutes. */
const LARGE_CHARS = MAX_PACKET_BYTES / 2 - 200;
it.each([" ", "\n", "<", " a:about=", ":DigitalSourceType ", "</a", "\ufeff"])(
  "reads a packet full of %j within half a second of its thread",
  (part) => {
    const filling = part.repeat(Math.floor(LARGE_CHARS / Buffer.byteLength(part)));
    const startedAt = process.cpuUsage();
    for (const one of [packet(filling), packet(filling, "")]) addTo(one, "trainedAlgorithmicMedia");
    expect(process.cpuUsage(startedAt).user / 1_000).toBeLessThan(500);
  },
);
