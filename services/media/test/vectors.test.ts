import { randomUUID } from "node:crypto";
import { SVG_BOUNDS } from "../src/svg";
import { sanitizeSvg } from "../src/vectors/sanitize";
import { PNG, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";
import { SHAPE, svgOf } from "../../../test-support/vectors";

let service: RunningMedia;
beforeAll(async () => void (service = await startMedia()));
afterAll(() => service.stop());

const sanitized = (content: string, attributes?: string): string => sanitizeSvg(Buffer.from(svgOf(content, attributes)));
const XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"';

describe("vector images", () => {
  it("are stored as images, measured, and served so that browsers show them in pages but never open them", async () => {
    const stored = await service.upload(Buffer.from(`\ufeff<?xml version="1.0"?>\n<!-- by hand -->\n${svgOf(SHAPE)}\n`));
    expect(stored).toMatchObject({ contentType: "image/svg+xml", width: 100, height: 50 });
    expect(stored.key).toMatch(/\.svg$/);
    const response = await fetch(`${service.http}/media/${signed(stored.key)}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/svg+xml",
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    expect(await response.text()).toBe(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" width="100" height="50"><rect width="10" height="10" fill="red"/></svg>`,
    );
  });

  it("are found by their content, whatever type is declared", async () => {
    const url = `data:image/png;base64,${Buffer.from(svgOf(SHAPE)).toString("base64")}`;
    expect((await service.ingest(randomUUID(), url, ["image"])).contentType).toBe("image/svg+xml");
    await expect(service.upload(Buffer.from(svgOf(SHAPE)), { accept: ["video"] })).rejects.toThrow("the file is image/svg+xml, not video");
    expect((await service.upload(Buffer.from(`<html>${svgOf(SHAPE)}</html>`))).contentType).toBe("application/octet-stream");
    expect((await service.upload(Buffer.concat([PNG, Buffer.from(svgOf(SHAPE))]))).contentType).toBe("image/png");
  });

  it("can be sent again: the result of sanitizing stays as it is", () => {
    const drawing =
      '<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><path d="M0 0L9 9z" fill="url(#a)"/><text>A &amp; "B"</text>';
    const first = sanitized(drawing);
    expect(sanitizeSvg(Buffer.from(first))).toBe(first);
    expect(first).toContain('<path d="M0 0L9 9z" fill="url(#a)"/><text>A &amp; &quot;B&quot;</text>');
  });

  it("keep a mark of generated files", () => {
    const mark = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";
    const marked = sanitized(`<metadata><a:b xmlns:a="urn:a">${mark}</a:b></metadata>${SHAPE}`);
    expect(marked).toContain(`DigitalSourceType="${mark}"`);
    expect(marked).not.toContain("urn:a");
    expect(sanitizeSvg(Buffer.from(marked))).toBe(marked);
  });

  it.each([
    [
      "a class",
      '<style>/* a */ .a, .b { fill: url(#g); stroke:blue!important }</style><path class="x a" d="M0 0"/>',
      '<path d="M0 0" fill="url(#g)" stroke="blue"/>',
    ],
    ["a style attribute", '<path style="fill:red;behavior:url(x)" fill="blue" d="M0 0"/>', '<path fill="red" d="M0 0"/>'],
    ["a tag and an id", '<style>path{fill:red}#a{fill:blue}</style><path id="a"/>', '<path id="a" fill="blue"/>'],
    ["a link", `<a ${XLINK} xlink:href="https://example.com">${SHAPE}</a>`, `<g>${SHAPE}</g>`],
    ["an old reference", `<defs><g id="a"/></defs><use ${XLINK} xlink:href="#a"/>`, '<use href="#a"/>'],
  ])("keep the look that %s gives", (_what, content, result) => {
    expect(sanitized(content)).toContain(result);
  });

  it.each([
    ["width and height", 'width="40" height="2in"', 'viewBox="0 0 40 192"', 'width="40" height="192"'],
    ["a width alone", 'width="200px" viewBox="0 0 100 50"', 'viewBox="0 0 100 50"', 'width="200" height="100"'],
    ["shares", 'width="100%" height="100%" viewBox="-5,-5 10 10"', 'viewBox="-5 -5 10 10"', 'width="10" height="10"'],
    ["nothing", "", 'viewBox="0 0 300 150"', 'width="300" height="150"'],
    ["nonsense", 'width="NaN" height="-1" viewBox="0 0 0 1e999"', 'viewBox="0 0 300 150"', 'width="300" height="150"'],
    ["a huge side", 'width="1e9" height="1e9"', 'viewBox="0 0 1000000000 1000000000"', 'width="100000" height="100000"'],
  ])("have one size in every program if their root says %s", (_what, attributes, box, size) => {
    const root = sanitized(SHAPE, attributes);
    for (const part of [box, size.split(" ")[0]!, size.split(" ")[1]!]) expect(root).toContain(part);
  });
});

describe("content that could run or load something is removed", () => {
  it.each([
    ["a script", "<script>alert(1)</script>"],
    ["a script of another prefix", '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>'],
    ["an event attribute", '<g onload="alert(1)" ONCLICK="alert(1)"/>'],
    ["a foreign document", '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></body></foreignObject>'],
    [
      "an animation of an address",
      '<set attributeName="href" to="javascript:alert(1)"/><animate attributeName="onload" values="alert(1)"/>',
    ],
    ["an event handler", '<handler type="application/ecmascript">alert(1)</handler>'],
    ["a picture elsewhere", `<image href="https://evil.test/a.png" ${XLINK} xlink:href="https://evil.test/a.png"/>`],
    ["a document inside", '<image href="data:image/svg+xml,alert(1)"/>'],
    ["a reference to another file", '<use href="https://evil.test/a.svg#a"/><use href="a.svg#evil"/>'],
    ["a paint elsewhere", '<rect fill="url(https://evil.test/a#b)" stroke="url(\'//evil.test\')" mask="u\\72l(evil)"/>'],
    [
      "a style sheet elsewhere",
      '<style>@import "https://evil.test/a.css"; @font-face{src:url(//evil.test)} rect{fill:url(//evil.test)}</style>',
    ],
    ["a style with an image set", '<rect style="fill:image-set(&quot;evil.png&quot; 1x);stroke:src(&quot;evil&quot;)"/>'],
    ["an instruction", '<?xml-stylesheet href="https://evil.test/a.css"?>'],
    ["metadata of a program", '<metadata>evil</metadata><sodipodi:a xmlns:sodipodi="urn:evil"/>'],
    ["a filter that loads", '<filter id="f"><feImage href="https://evil.test"/></filter>'],
    ["a base address", '<g xml:base="https://evil.test/"/>'],
    ["an encoded script", '<g href="&#106;avascript:alert(1)"/><path d="alert(1)"/>'],
  ])("%s", (_what, content) => {
    const result = sanitized(`${content}${SHAPE}`);
    expect(result).toContain(SHAPE);
    expect(result).not.toMatch(/alert|evil|script|import|onload|data:/i);
  });
});

describe("a vector is refused, and the error says why", () => {
  const nested = (count: number): string => "<g>".repeat(count) + SHAPE + "</g>".repeat(count);
  /** Each group draws the one before ten times. */
  const laughs = Array.from({ length: 8 }, (_, level) =>
    level === 0 ? `<g id="g0">${SHAPE}</g>` : `<g id="g${level}">${`<use href="#g${level - 1}"/>`.repeat(10)}</g>`,
  ).join("");
  const patterns = Array.from({ length: 8 }, (_, level) => {
    const inner = level === 0 ? SHAPE : `<rect fill="url(#p${level - 1})"/>`.repeat(10);
    return `<pattern id="p${level}">${inner}</pattern>`;
  }).join("");
  const dtd = (subset: string): string => `<!DOCTYPE svg [${subset}]>`;
  it.each([
    ["with entities", `${dtd('<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">')}${svgOf(`${SHAPE}<text>&b;</text>`)}`, "isn't well-formed XML"],
    ["with entities that it doesn't use", `${dtd('<!ENTITY x SYSTEM "file:///etc/passwd">')}${svgOf(SHAPE)}`, "defines entities"],
    ["that isn't closed", svgOf(SHAPE).slice(0, -6), "isn't well-formed XML"],
    ["with values without quotes", svgOf("<rect width=9/>"), "isn't well-formed XML"],
    ["with only a script", svgOf("<script>alert(1)</script>"), "draws nothing"],
    ["that is empty", "<svg/>", "draws nothing"],
    ["nested too deep", svgOf(nested(SVG_BOUNDS.levels)), `more than ${SVG_BOUNDS.levels} levels`],
    ["nested without end", svgOf(nested(19_000)), `more than ${SVG_BOUNDS.levels} levels`],
    ["with too many elements", svgOf("<g/>".repeat(SVG_BOUNDS.elements) + SHAPE), `more than ${SVG_BOUNDS.elements} elements`],
    ["with too many tags", svgOf("<!---->".repeat(2 * SVG_BOUNDS.elements) + SHAPE), `more than ${SVG_BOUNDS.elements} elements`],
    ["that is too large", svgOf(`<path d="${"M0 0".repeat(SVG_BOUNDS.bytes / 4)}"/>`), `larger than ${SVG_BOUNDS.bytes} bytes`],
    ["whose references multiply", svgOf(laughs), "by references"],
    ["whose patterns multiply", svgOf(`${patterns}<rect fill="url(#p7)"/>`), "by references"],
    ["that contains itself", svgOf('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'), "refers to itself"],
    ["that isn't UTF-8", Buffer.concat([Buffer.from(svgOf(SHAPE)), Buffer.from([0xff])]), "isn't UTF-8"],
  ])("%s", async (_what, content, problem) => {
    await expect(service.upload(Buffer.from(content))).rejects.toMatchObject({
      reason: "UNSUPPORTED_MEDIA_TYPE",
      message: expect.stringContaining(problem) as string,
    });
  });
});
