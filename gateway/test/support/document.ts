import { routes } from "../../src/endpoints";
import { describeRoutes } from "./contract";

export const document = describeRoutes(routes);
