import { createProgram } from "./program";

/** A reader such as `head` may close the pipe early, which isn't an error. */
const endWithReader = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
};
process.stdout.on("error", endWithReader);
process.stderr.on("error", endWithReader);

void createProgram().parseAsync();
