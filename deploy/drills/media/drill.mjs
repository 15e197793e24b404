export const DRILL = {
  sentence: "processes videos and sounds in every common form with the downloaded ffmpeg, and makes a film to look at",
  minutes: 4,
  builds: true,
};
