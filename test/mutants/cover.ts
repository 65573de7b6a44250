// Writes what a test file ran as soon as its tests are over: a worker that is ended writes nothing.
import { takeCoverage } from "node:v8";
import { afterAll } from "vitest";

afterAll(() => takeCoverage());
