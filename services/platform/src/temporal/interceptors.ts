/** Modules that the bundle evaluates before a service's workflows. */
import "./promise-hooks";

export { interceptors } from "./trace";
