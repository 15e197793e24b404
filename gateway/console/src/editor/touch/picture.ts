/** A picture, video or sound that the page can show, in its own upright size. */
export interface Picture {
  url: string;
  /** 0 for sounds. */
  width: number;
  height: number;
  /** Length of a video or sound. */
  seconds?: number;
}
