import { routes } from "../../src/routes";
import { describeRoutes } from "./contract";

/** The whole OpenAPI document. */
export const document = describeRoutes(routes);
