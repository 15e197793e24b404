import { composite, convert, crop, resize } from "./images/edit";
import { extend } from "./images/extend";
import { grid } from "./images/grid";
import * as masks from "./images/masks";
import { write } from "./images/text";
import type { Operation } from "./job";
import { measure } from "./measure";
import { preview } from "./preview";
import * as sounds from "./sounds/sounds";
import { captions } from "./videos/captions";
import { concat } from "./videos/concat";
import * as videos from "./videos/edit";
import { mux } from "./videos/mux";
import { slideshow } from "./videos/slideshow";

/** Implementations of the kernel's operations, of previews and of measurements. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "image-resize": resize,
  "image-crop": crop,
  "image-composite": composite,
  "image-grid": grid,
  "image-convert": convert,
  "image-text": write,
  "image-extend": extend,
  "image-mask": masks.apply,
  "image-from-mask": masks.asImage,
  "mask-draw": masks.draw,
  "mask-from-image": masks.fromImage,
  "mask-combine": masks.combine,
  "mask-grow": masks.grow,
  "mask-blur": masks.blur,
  "mask-invert": masks.invert,
  "video-concat": concat,
  "video-trim": videos.trim,
  "video-frame": videos.frame,
  "video-mux": mux,
  "video-slideshow": slideshow,
  "video-captions": captions,
  "video-speed": videos.speed,
  "video-resize": videos.resize,
  "video-gif": videos.gif,
  "audio-concat": sounds.concat,
  "audio-mix": sounds.mix,
  "audio-trim": sounds.trim,
  "audio-loudness": sounds.loudness,
  "audio-convert": sounds.convert,
  preview,
  measure,
};
