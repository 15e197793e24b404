/** Modules that the bundle evaluates before the workflows of a service. */
import "./promise-hooks";

export { interceptors } from "./trace";
