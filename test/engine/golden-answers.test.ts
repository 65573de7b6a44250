// Under rules of version 1 a limiter answers bit for bit as it always did, whichever engine decides.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { goldenAnswers } from "./rules-scripts.ts";

test("400 scripts under drawn rules have the answers that they always had", () => {
  const answers = goldenAnswers(
    (rules, snapshot) => (snapshot === undefined ? new Limiter(rules) : Limiter.restore(rules, snapshot)),
    400,
  );
  const decisions = answers.flat().filter((answer) => answer !== null && "admitted" in (answer as object));
  expect(decisions).toHaveLength(13_053);
  expect(createHash("sha256").update(JSON.stringify(answers)).digest("hex")).toBe(
    "d51c076409cbcc99c0b68d73efc255f3abbdf00fc4ea5ddf3754c3249bbfad80",
  );
});
