// An owner's acceptance of a little over-admission: what it sets aside, and what still stands.
import { expect, test } from "vitest";
import { accept } from "../../src/verify/acceptance.ts";
import type { Accused } from "../../src/verify/accusation.ts";
import type { Amounts } from "../../src/verify/verdict.ts";

const amounts = { overAdmission: 0.0123456, overAdmitted: 7 } as Amounts;
const accused = (law: string, tooLow: Accused["tooLow"], user: string | null = null): Accused =>
  ({ violation: { law, org: "acme", user, scope: "rest" }, tooLow }) as unknown as Accused;
const charges = accused("bounded", "charges");
const readings = accused("conserved", "readings");
const others = accused("conserved", "readings", "ann");
const grave = accused("isolated", null);
const limit = { overAdmission: 0.02 };

test("counts that came out too low are set aside, with the readings of the same quota", () => {
  expect(accept(limit, amounts, [charges, readings, others, grave, charges], false)).toEqual({
    standing: [others, grave],
    laws: ["bounded", "conserved"],
    accepted: [
      {
        expectation: "overAdmission <= 2 %",
        explanation:
          "3 findings of counts that came out too low: by them at least 7 points or calls went in above a limit, 1.23 % of what was admitted",
      },
    ],
  });
});

test("nothing is set aside where nothing is accepted, more was found, too much was admitted, or nothing is too low", () => {
  expect(accept(null, amounts, [charges], false)).toBeNull();
  expect(accept(limit, amounts, [charges], true)).toBeNull();
  expect(accept({ overAdmission: 0.0123455 }, amounts, [charges], false)).toBeNull();
  expect(accept({ overAdmission: 0.0123456 }, amounts, [charges], false)?.standing).toEqual([]);
  expect(accept(limit, amounts, [readings, grave], false)).toBeNull();
});
