import type { Picture } from "../picture";

const LOAD_MS = 30_000;
/** Later than any file lasts: a seek to it makes a browser read the length of a recording that doesn't state it. */
const BEYOND_EVERY_FILE = 1e7;

/** Size and length of a video or sound. @throws if the browser can't play it */
export const loadClip = (url: string, family: "video" | "audio"): Promise<Picture> =>
  new Promise((resolve, reject) => {
    const media = document.createElement("video");
    const end = (act: () => void): void => {
      clearTimeout(timer);
      media.onerror = null;
      media.removeAttribute("src");
      act();
    };
    const timer = setTimeout(() => end(() => reject(new Error(url))), LOAD_MS);
    media.onerror = () => end(() => reject(new Error(url)));
    const read = (): void => {
      const { duration, videoWidth, videoHeight } = media;
      if (duration === Infinity) {
        media.currentTime = BEYOND_EVERY_FILE;
        return;
      }
      const isPlayable = duration > 0 && (family === "audio" || videoWidth > 0);
      const size = family === "audio" ? { width: 0, height: 0 } : { width: videoWidth, height: videoHeight };
      end(() => (isPlayable ? resolve({ url, ...size, seconds: duration }) : reject(new Error(url))));
    };
    media.onloadedmetadata = read;
    media.ondurationchange = () => media.readyState > 0 && read();
    media.preload = "metadata";
    media.src = url;
  });
