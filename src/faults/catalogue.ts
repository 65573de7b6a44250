// Every fault that can be injected: bugs that rate limiters have shipped, each in a deployment that is otherwise
// correct.
import { answerFaults } from "./answers.ts";
import { countingFaults } from "./counting.ts";
import { type Fault, usual } from "./fault.ts";
import { keyFaults } from "./keys.ts";
import { processFaults } from "./processes.ts";
import { readingFaults } from "./readings.ts";
import { windowFaults } from "./windows.ts";

export const faults: readonly Fault[] = [
  ...countingFaults,
  ...keyFaults,
  ...windowFaults,
  ...processFaults,
  ...readingFaults,
  ...answerFaults,
].map((entry) => ({ ...usual, ...entry }));
