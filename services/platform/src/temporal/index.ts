/** temporal/: a process's connection to Temporal, its worker and its schedules. Only services with a worker load it. */
export { isNotFound, translateTemporal, withTemporal, type TemporalServer } from "./client";
export { createEncryptionCodec } from "./encryption";
export { ensureSchedules, type PlatformSchedule } from "./schedules";
export { connectTemporal, type RunningTemporal, type TemporalOptions } from "./worker";
