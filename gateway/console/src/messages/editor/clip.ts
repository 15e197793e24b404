const DIGITS = 2;
const seconds = (time: number): string => `${time.toFixed(DIGITS)} s`;

/** Texts of the player with a timeline. */
export const CLIP = {
  video: "Video",
  sound: "Sound",
  play: "Play",
  pause: "Pause",
  loop: "Loop",
  playhead: "Playhead",
  seconds,
  timeOf: (time: number, whole: number) => `${time.toFixed(DIGITS)} / ${seconds(whole)}`,
  keys: "Arrow keys move by 0.1 seconds, with Shift by 1 second. Space plays.",
  noFrames: "Couldn't read the frames of the video.",
  noFile: "Run the node before this one to see its file",
  loading: "Loading the file…",
  unreadable: "Your browser can't play this file",
  unreadableHint: "Convert the file before this node, or set the numbers.",
};

export const TRIM = {
  start: "Start",
  end: "End",
  result: "Result",
  range: (start: number, end: number) => `${seconds(start)} to ${seconds(end)}: ${seconds(end - start)}`,
  late: (whole: number) => `The start comes after the end of the file, at ${seconds(whole)}. Choose an earlier start.`,
  empty: (_whole: number) => "The end must come after the start.",
} as const;

export const CAPTIONS = {
  list: "Captions",
  text: "Caption",
  newText: "New caption",
  noText: "No text",
  start: "Start (seconds)",
  end: "End (seconds)",
  grip: { start: "Start of the caption", end: "End of the caption", move: "Move the caption" },
  endBeforeStart: "The end must come after the start.",
  remove: "Delete caption",
  add: (time: number) => `Add caption at ${seconds(time)}`,
  times: (start: number, end: number) => `${start.toFixed(DIGITS)} to ${seconds(end)}`,
  choose: (text: string, start: number) => `Edit the caption at ${seconds(start)}: ${text}`,
  none: "No captions yet. Add one at the playhead, or enter a text that is spread over the video.",
  derived: "These captions come from the words or the text. If you edit one, each caption is stored with its own times.",
  wrong: (index: number) => `Entry ${index + 1} of the words is no caption. It needs a text, a start and an end in seconds.`,
  shownOf: (shown: number, count: number) => `${shown} of ${count} captions are shown. Choose one on the timeline to see its neighbors.`,
  track: "Players draw a track of captions in their own style.",
} as const;
