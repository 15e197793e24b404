import { createOnnx } from "./onnx";
import { readPytorch } from "./pickle";

/** Converts RIFE 4.0's weights to ONNX. From two images and a time between 0 and 1, the model computes the image at that time. */

/** Downscaling factor of each block's motion estimate. */
const BLOCK_SCALES = [8, 4, 2, 1];
const RESIDUAL_LAYERS = 8;
const [HEIGHT_AXIS, WIDTH_AXIS] = [2, 3];

/** @param file PyTorch weights @returns an ONNX model for images whose sides are multiples of 64 */
export const rifeToOnnx = (file: Buffer): Buffer => {
  const tensors = new Map([...readPytorch(file)].map(([name, tensor]) => [name.replace("module.", ""), tensor]));
  const onnx = createOnnx({ name: "rife", opset: 16, isHalf: true });
  const { node } = onnx;
  const scalar = (value: number): string => onnx.floats([value], []);
  const weight = (name: string, shape?: (dims: readonly number[]) => number[]): string => {
    const tensor = tensors.get(name);
    if (!tensor) throw new Error(`the weights have no ${name}`);
    return onnx.floats(tensor.data, shape?.(tensor.dims) ?? tensor.dims, name);
  };
  const slice = (value: string, from: number, to: number): string =>
    node("Slice", [value, onnx.integers([from], [1]), onnx.integers([to], [1]), onnx.integers([1], [1])]);
  const join = (...values: string[]): string => node("Concat", values, { axis: 1 });
  const times = (value: string, factor: number): string => (factor === 1 ? value : node("Mul", [value, scalar(factor)]));
  const resize = (value: string, scale: number): string =>
    scale === 1
      ? value
      : node("Resize", [value, "", onnx.floats([1, 1, scale, scale], [4])], {
          coordinate_transformation_mode: "half_pixel",
          mode: "linear",
        });
  const convolve = (value: string, name: string, stride: number): string => {
    const attributes = { kernel_shape: [3, 3], pads: [1, 1, 1, 1], strides: [stride, stride] };
    const sum = node("Conv", [value, weight(`${name}.0.weight`), weight(`${name}.0.bias`)], attributes);
    return node("PRelu", [sum, weight(`${name}.1.weight`, ([channels = 0]) => [channels, 1, 1])]);
  };

  /** Estimates motion at one scale: the flow in both directions (four channels) and the blend mask (one channel). */
  const block = (index: number, images: string, flow: string | undefined, scale: number): [flow: string, mask: string] => {
    const name = `block${index}`;
    const small = resize(images, 1 / scale);
    const input = flow === undefined ? small : join(small, times(resize(flow, 1 / scale), 1 / scale));
    const first = convolve(convolve(input, `${name}.conv0.0`, 2), `${name}.conv0.1`, 2);
    let deep = first;
    for (let layer = 0; layer < RESIDUAL_LAYERS; layer++) deep = convolve(deep, `${name}.convblock.${layer}`, 1);
    const enlarged = node(
      "ConvTranspose",
      [node("Add", [first, deep]), weight(`${name}.lastconv.weight`), weight(`${name}.lastconv.bias`)],
      {
        kernel_shape: [4, 4],
        pads: [1, 1, 1, 1],
        strides: [2, 2],
      },
    );
    const large = resize(enlarged, scale * 2);
    return [node("Mul", [slice(large, 0, 4), scalar(scale * 2)]), slice(large, 4, 5)];
  };

  const [from, to] = ["img0", "img1"];
  const ones = node("Add", [node("Mul", [slice(from, 0, 1), scalar(0)]), scalar(1)]);
  const time = node("Mul", [ones, "t"]);
  const positions = (axis: number): string => node("Sub", [node("CumSum", [ones, onnx.integers([axis], [])]), scalar(1)]);
  const [columns, rows] = [positions(WIDTH_AXIS), positions(HEIGHT_AXIS)];
  const shape = node("Cast", [node("Shape", [from])], { to: 1 });
  const half = (axis: number): string =>
    node("Div", [node("Sub", [node("Gather", [shape, onnx.integers([axis], [1])]), scalar(1)]), scalar(2)]);
  const [halfHeight, halfWidth] = [half(HEIGHT_AXIS), half(WIDTH_AXIS)];
  /** Applies the motion to an image. */
  const warp = (image: string, flow: string): string => {
    const place = (start: string, moved: string, middle: string): string =>
      node("Sub", [node("Div", [node("Add", [start, moved]), middle]), scalar(1)]);
    const grid = join(place(columns, slice(flow, 0, 1), halfWidth), place(rows, slice(flow, 1, 2), halfHeight));
    const attributes = { align_corners: 1, mode: "bilinear", padding_mode: "border" };
    return node("GridSample", [image, node("Transpose", [grid], { perm: [0, 2, 3, 1] })], attributes);
  };

  let [flow, mask] = block(0, join(from, to, time), undefined, BLOCK_SCALES[0]!);
  const warped = (): [string, string] => [warp(from, slice(flow, 0, 2)), warp(to, slice(flow, 2, 4))];
  for (const [index, scale] of BLOCK_SCALES.entries()) {
    if (index === 0) continue;
    const [moreFlow, moreMask] = block(index, join(...warped(), time, mask), flow, scale);
    flow = node("Add", [flow, moreFlow]);
    mask = node("Add", [mask, moreMask]);
  }
  const [first, second] = warped();
  const share = node("Sigmoid", [mask]);
  const mixed = node("Add", [node("Mul", [first, share]), node("Mul", [second, node("Sub", [scalar(1), share])])]);
  node("Clip", [mixed, scalar(0), scalar(1)], {}, "out");
  const image = (name: string) => ({ name, dims: [1, 3, "h", "w"] as const });
  return onnx.finish([image(from), image(to), { name: "t", dims: [1] }], [image("out")]);
};
