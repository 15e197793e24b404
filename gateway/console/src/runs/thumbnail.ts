/**
 * The address of a picture that is drawn so wide, in device pixels. The media service makes no smaller ones yet, so it is
 * the file itself; where one is made, this is the only place that says so.
 */
export const thumbnailUrl = (url: string, _width: number): string => url;
