import { startInference } from "./inference";

/** `serve.ts <folder> <port>`: the service with fake engines, in a process that can be killed. */
const [, , folder, port] = process.argv;
void startInference(folder!, {}, Number(port)).then(() => process.send?.("ready"));
