import sharp from "sharp";
import { greysOf, ssimOf } from "../services/transform/src/work/images/similarity";

/** Mean structural similarity of two pictures (SSIM), from 0 to 1. @throws if their sizes differ */
export const similarity = async (one: Buffer, other: Buffer): Promise<number> =>
  ssimOf(await greysOf(sharp(one)), await greysOf(sharp(other)));
