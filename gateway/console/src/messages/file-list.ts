import { plural } from "./forms";

export const FILE_LIST = {
  drop: "Drop files here, or choose them.",
  count: (count: number, most: number) => `${count} of ${most}`,
  uploading: (index: number, count: number) => `Uploading ${index} of ${count}…`,
  tooMany: (most: number, label: string) => `${label} takes at most ${plural(most, "file", "files")}. The others weren't added.`,
  wrongType: (name: string, kind: string) => `${name} isn't ${kind}.`,
  kinds: { image: "an image", video: "a video", audio: "an audio file", model: "a 3D model" },
  anyKind: "an image, a video, an audio file or a 3D model",
  position: (title: string, index: number, count: number) => `${title}, ${index} of ${count}`,
  moveEarlier: (title: string) => `Move ${title} earlier`,
  moveLater: (title: string) => `Move ${title} later`,
  remove: (title: string) => `Remove ${title}`,
  moved: (title: string, index: number, count: number) => `${title} is now ${index} of ${count}.`,
  removed: (title: string, count: number) => `${title} removed. ${plural(count, "file", "files")} left.`,
  exampleFile: "Example file",
  examplesReplaced: "Your files replace the examples.",
  addFiles: (count: number) => (count === 0 ? "Add files" : `Add ${plural(count, "file", "files")}`),
  chooseFiles: (label: string) => `Choose files for ${label}`,
  noFiles: "You have no files of this type yet.",
};
