import { routes } from "../../src/endpoints";
import { describeRoutes } from "./contract";

/** The whole OpenAPI document. */
export const document = describeRoutes(routes);
