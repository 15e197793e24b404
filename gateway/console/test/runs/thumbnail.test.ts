import { thumbnailUrl } from "../../src/media/thumbnail";

beforeAll(() => Object.assign(globalThis, { location: { origin: "http://console.test" }, GATEWAY_ORIGIN: "" }));

const OWN = "http://console.test/media/0123.png";

it.each([
  [1, "96"],
  [96, "96"],
  [97, "192"],
  [600.5, "768"],
  [2048, "2048"],
])("asks for the next larger width of %d pixels", (width, expected) => {
  expect(thumbnailUrl(OWN, width)).toBe(`${OWN}?w=${expected}`);
});

it("shows a file itself that is drawn wider than any thumbnail", () => {
  expect(thumbnailUrl(OWN, 2049)).toBe(OWN);
});

it("leaves addresses alone that are not of this service, or that say more already", () => {
  expect(thumbnailUrl("https://elsewhere.test/a.png", 96)).toBe("https://elsewhere.test/a.png");
  expect(thumbnailUrl(`${OWN}?w=96`, 384)).toBe(`${OWN}?w=96`);
});
