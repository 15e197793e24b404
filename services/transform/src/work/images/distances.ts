/** Distances between pixels, with which masks grow and shrink. */

const MOST_ROWS = 65_535;

/**
 * Selects every pixel that is at most `radius` pixels away from a selected one, measured between pixel centres. It takes time in proportion
 * to the number of pixels, whatever the radius.
 * @param isSelected tells whether a level of the mask counts as selected
 * @returns a mask of the same size with the levels 0 and 255
 */
export const near = (
  mask: Uint8Array,
  { width, height }: { width: number; height: number },
  radius: number,
  isSelected: (level: number) => boolean,
): Uint8Array => {
  // Distance of each pixel to the nearest selected one in its column.
  const down = new Uint16Array(width * height).fill(MOST_ROWS);
  for (let x = 0; x < width; x += 1) {
    for (let y = 0, rows = MOST_ROWS; y < height; y += 1) {
      rows = isSelected(mask[y * width + x]!) ? 0 : Math.min(MOST_ROWS, rows + 1);
      down[y * width + x] = rows;
    }
    for (let y = height - 1, rows = MOST_ROWS; y >= 0; y -= 1) {
      rows = Math.min(down[y * width + x]!, rows + 1);
      down[y * width + x] = Math.min(MOST_ROWS, rows);
    }
  }
  const grownMask = new Uint8Array(width * height);
  const ends = new Int32Array(width + 1);
  for (let y = 0; y < height; y += 1) {
    // A pixel selects the span of its row that lies in the circle around its nearest selected pixel. Spans are added up as differences.
    ends.fill(0);
    for (let x = 0; x < width; x += 1) {
      const rows = down[y * width + x]!;
      if (rows > radius) continue;
      const half = Math.floor(Math.sqrt(radius * radius - rows * rows));
      const from = Math.max(0, x - half);
      const to = Math.min(width, x + half + 1);
      ends[from]! += 1;
      ends[to]! -= 1;
    }
    for (let x = 0, inside = 0; x < width; x += 1) {
      inside += ends[x]!;
      if (inside > 0) grownMask[y * width + x] = 255;
    }
  }
  return grownMask;
};
