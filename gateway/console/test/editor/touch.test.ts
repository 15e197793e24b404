import fc from "fast-check";
import { cropBox, mediaOperation, operationIssues, resizedImage, type ImageBox, type ImageSize } from "@nodeloom/kernel/graph";
import { arrowShift, centredOn, dragged, HANDLES, type Grip } from "../../src/editor/touch/boxes";
import { composeChanges, layerOf, snapped } from "../../src/editor/touch/compose";
import { cropChanges, croppingOf, ratioOf, withNumber } from "../../src/editor/touch/crop";
import { pointAt, shapeOf, withPoint, type Point, type Tool } from "../../src/editor/touch/mask";
import { resizeChanges, resizingOf } from "../../src/editor/touch/resize";

const PICTURE: ImageSize = { width: 640, height: 400 };
const BOX: ImageBox = { left: 100, top: 50, width: 200, height: 100 };

const coordinate = fc.integer({ min: -900, max: 900 });
const shift = fc.record({ x: coordinate, y: coordinate });
const grips = fc.constantFrom<Grip>(...HANDLES, "move");
const boxes = fc
  .tuple(fc.integer({ min: 1, max: PICTURE.width }), fc.integer({ min: 1, max: PICTURE.height }), fc.nat(), fc.nat())
  .map(([width, height, x, y]): ImageBox => ({
    width,
    height,
    left: x % (PICTURE.width - width + 1),
    top: y % (PICTURE.height - height + 1),
  }));

const isInside = ({ left, top, width, height }: ImageBox): boolean =>
  [left, top, width, height].every(Number.isInteger) &&
  left >= 0 &&
  top >= 0 &&
  width >= 1 &&
  height >= 1 &&
  left + width <= PICTURE.width &&
  top + height <= PICTURE.height;

describe("a mask that is drawn", () => {
  it("stores a stroke without points that add nothing, an eraser as a brush, and a rectangle from any corner", () => {
    const size = { width: 200, height: 100 };
    const at = (x: number, y: number) => pointAt({ x, y }, size);
    const points = [at(20, 50), at(20.2, 50), at(100, 50)].reduce<readonly Point[]>(withPoint, []);
    expect(points).toEqual([
      [0.1, 0.5],
      [0.5, 0.5],
    ]);
    expect(shapeOf("brush", points, 0.1)).toEqual({ tool: "brush", points, size: 0.1 });
    expect(shapeOf("eraser", points, 0.1)).toEqual({ tool: "brush", points, size: 0.1, erase: true });
    expect(shapeOf("rectangle", [at(100, 80), at(50, 20)], 0.1)).toEqual({ tool: "rectangle", x: 0.25, y: 0.2, width: 0.25, height: 0.6 });
    expect(shapeOf("rectangle", [at(100, 80)], 0.1)).toBeUndefined();
  });

  it("results in settings that the operation accepts, however far the pointer leaves the picture", () => {
    const far = fc.record({ x: fc.integer({ min: -9_000, max: 9_000 }), y: fc.integer({ min: -9_000, max: 9_000 }) });
    const operation = mediaOperation("mask-draw")!;
    fc.assert(
      fc.property(fc.constantFrom<Tool>("brush", "eraser", "rectangle"), fc.array(far, { maxLength: 40 }), (tool, way) => {
        const points = way.map((position) => pointAt(position, PICTURE)).reduce<readonly Point[]>(withPoint, []);
        const shape = shapeOf(tool, points, 0.1);
        if (shape) expect(operationIssues(operation, { image: "file", shapes: [shape] })).toEqual([]);
      }),
    );
  });
});

describe("a box that is dragged", () => {
  it.each([
    ["se", { x: 30, y: -20 }, { ...BOX, width: 230, height: 80 }],
    ["nw", { x: 30, y: -20 }, { left: 130, top: 30, width: 170, height: 120 }],
    ["n", { x: 30, y: 10 }, { ...BOX, top: 60, height: 90 }],
    ["e", { x: 999, y: 10 }, { ...BOX, width: 540 }],
    ["w", { x: 999, y: 0 }, { ...BOX, left: 299, width: 1 }],
    ["move", { x: -999, y: 999 }, { ...BOX, left: 0, top: 300 }],
  ] as const)("by %s follows the pointer and stops at the picture's edges", (grip, by, expected) => {
    expect(dragged(BOX, grip, by, { within: PICTURE })).toEqual(expected);
  });

  it("stays inside the picture in whole pixels, however far and with whatever proportions", () => {
    const ratio = fc.option(fc.constantFrom(1, 16 / 9, 2 / 3, 40, 1 / 40), { nil: undefined });
    fc.assert(
      fc.property(boxes, grips, shift, ratio, (box, grip, by, keptRatio) => {
        expect(isInside(dragged(box, grip, by, { within: PICTURE, ratio: keptRatio }))).toBe(true);
      }),
    );
  });

  it("keeps its proportions and its opposite corner", () => {
    const box = dragged({ left: 100, top: 50, width: 160, height: 90 }, "nw", { x: -64, y: 0 }, { within: PICTURE, ratio: 16 / 9 });
    expect(box).toEqual({ left: 36, top: 14, width: 224, height: 126 });
  });

  it("moves by one pixel with an arrow key, and by ten with Shift", () => {
    expect(arrowShift({ key: "ArrowUp", shiftKey: false })).toEqual({ x: 0, y: -1 });
    expect(arrowShift({ key: "ArrowRight", shiftKey: true })).toEqual({ x: 10, y: 0 });
    expect(arrowShift({ key: "a", shiftKey: false })).toBeUndefined();
  });

  it("keeps its middle when its size changes, as far as the picture reaches", () => {
    expect(centredOn(BOX, { width: 100, height: 100 }, PICTURE)).toEqual({ left: 150, top: 50, width: 100, height: 100 });
    expect(centredOn(BOX, { width: 640, height: 360 }, PICTURE)).toEqual({ left: 0, top: 0, width: 640, height: 360 });
  });
});

describe("the settings of a crop", () => {
  it("give back the box that was drawn, with and without an aspect", () => {
    const aspect = fc.constantFrom(undefined, "1:1", "16:9", "2:3", "640:400");
    fc.assert(
      fc.property(boxes, aspect, (box, keptRatio) => {
        expect(cropBox(croppingOf(cropChanges(box, PICTURE, keptRatio)), PICTURE)).toEqual(box);
      }),
    );
  });

  it("name the aspect if the box is its largest one, and pixels otherwise", () => {
    expect(cropChanges({ left: 120, top: 0, width: 400, height: 400 }, PICTURE, "1:1")).toMatchObject({
      aspect: "1:1",
      width: undefined,
      x: undefined,
    });
    expect(cropChanges({ left: 240, top: 0, width: 400, height: 400 }, PICTURE, "1:1")).toMatchObject({
      aspect: "1:1",
      position: "top-right",
    });
    expect(cropChanges({ left: 7, top: 0, width: 400, height: 400 }, PICTURE, "1:1")).toMatchObject({ aspect: "1:1", x: 7, y: 0 });
    expect(cropChanges({ left: 0, top: 0, width: 99, height: 99 }, PICTURE, "1:1")).toMatchObject({
      aspect: undefined,
      width: 99,
      x: 0,
      y: 0,
    });
    expect(ratioOf("16:0")).toBeUndefined();
  });

  it("take a typed number as far as the picture reaches", () => {
    expect(withNumber(BOX, "width", 9_999, PICTURE)).toEqual({ ...BOX, left: 0, width: 640 });
    expect(withNumber(BOX, "left", 630, PICTURE)).toEqual({ ...BOX, left: 440 });
    expect(withNumber(BOX, "height", -4, PICTURE)).toEqual({ ...BOX, height: 1 });
  });
});

describe("the settings of a resize", () => {
  const drag = (settings: object, handle: "e" | "s" | "se", by: { x: number; y: number }): object => {
    const { width, height } = resizedImage(resizingOf({ ...settings }), PICTURE);
    return resizeChanges({ ...settings }, PICTURE, { width, height }, handle, by);
  };

  it("keep the proportions with one stored side, the one that was stored", () => {
    expect(drag({ width: 640 }, "se", { x: -160, y: -100 })).toEqual({ width: 480, height: undefined });
    expect(drag({ height: 200 }, "s", { x: 0, y: 50 })).toEqual({ width: undefined, height: 250 });
    expect(drag({ width: 640, height: 400 }, "e", { x: 64, y: 0 })).toEqual({ width: 704, height: undefined });
  });

  it("change one side alone if the fit allows other proportions", () => {
    expect(drag({ width: 300, height: 300, fit: "cover" }, "e", { x: 20, y: 90 })).toEqual({ width: 320, height: 300 });
  });

  it("stay between one pixel and the most that the operation allows, or the picture's size if it isn't enlarged", () => {
    expect(drag({ width: 640 }, "se", { x: 99_999, y: 0 })).toEqual({ width: 8_192, height: undefined });
    expect(drag({ width: 640, enlarge: false }, "se", { x: 99_999, y: 0 })).toEqual({ width: 640, height: undefined });
    expect(drag({ width: 640, fit: "fill" }, "se", { x: -9_999, y: -9_999 })).toEqual({ width: 1, height: 1 });
  });
});

describe("the settings of an overlay", () => {
  const layer: ImageSize = { width: 240, height: 120 };
  const sizes = { layer, image: PICTURE };
  const drag = (settings: object, grip: Grip, by: { x: number; y: number }, within = 8) =>
    composeChanges({ ...settings }, sizes, layerOf({ ...settings }, layer, PICTURE), grip, by, within);

  it("snap to the edges, the middle and the margins of the image, within a distance", () => {
    const box = { left: 203, top: 6, ...layer };
    expect(snapped(box, PICTURE, 0, 8)).toEqual({ box: { ...box, left: 200, top: 0 }, guides: { x: 320, y: 0 } });
    expect(snapped({ ...box, left: 381 }, PICTURE, 20, 8)).toMatchObject({ box: { left: 380 }, guides: { x: 620 } });
    expect(snapped(box, PICTURE, 0, 2)).toEqual({ box, guides: { x: undefined, y: undefined } });
  });

  it("replace the anchor by edges when the layer is moved, and by keys without snapping", () => {
    expect(drag({ position: "top-left" }, "move", { x: 3, y: 60 }).changes).toEqual({ x: 0, y: 60 });
    expect(drag({ position: "top-left" }, "move", { x: 1, y: 0 }, 0).changes).toEqual({ x: 1, y: 0 });
  });

  it("keep the proportions and the opposite corner when a corner is dragged", () => {
    expect(drag({ x: 100, y: 100, width: 200 }, "nw", { x: -40, y: 0 }).changes).toEqual({ width: 240, x: 60, y: 80 });
    expect(drag({ x: 100, y: 100 }, "se", { x: 99_999, y: 0 }).changes).toMatchObject({ width: 8_192, x: 100, y: 100 });
  });

  it("always leave a pixel of the layer on the image, which the operation requires", () => {
    const far = fc.integer({ min: -5_000, max: 5_000 });
    fc.assert(
      fc.property(far, far, grips, (x, y, grip) => {
        const { changes } = drag({ x: 10, y: 10, width: 100 }, grip, { x, y });
        const box = layerOf({ width: 100, ...changes }, layer, PICTURE);
        expect(box.left < PICTURE.width && box.top < PICTURE.height && box.left + box.width > 0 && box.top + box.height > 0).toBe(true);
      }),
    );
  });
});
