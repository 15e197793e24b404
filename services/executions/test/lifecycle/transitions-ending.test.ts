import { describeTransitions, ENDING } from "../support/transitions";

describeTransitions(ENDING);
