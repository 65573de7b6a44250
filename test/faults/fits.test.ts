// The policies that a fault can be injected under: each condition by a policy that meets it and one that lacks just that.
import { expect, test } from "vitest";
import {
  firstQuotas,
  hasCallers,
  hasJoinedKey,
  hasOthers,
  hasStatus,
  hasTogether,
  hasUnenforced,
  hasWindows,
  isDearer,
  isDeclared,
} from "../../src/faults/fits.ts";
import {
  headersTwice,
  readingsTold,
  resetsPast,
  resetsZero,
  retriesSoon,
  silentOn,
} from "../../src/faults/told.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";

const window = { kind: "fixed-window", limit: 5, windowSeconds: 60 };
const bucket = { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1000 } };
const bare = {
  version: 2,
  name: "bare",
  quotas: { only: { algorithm: bucket } },
  operations: { call: { uses: { only: 1 } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { attributes: ["user"] },
};
const policyOf = (changes: object = {}) => parsePolicy({ ...bare, ...changes } as PolicyInput);
const two = { only: { algorithm: bucket }, other: { algorithm: bucket } };
const uses = (...each: object[]) => ({
  operations: Object.fromEntries(each.map((one, at) => [`call${at}`, { uses: one }])),
  routes: [{ path: "/**", operation: "call0" }],
});
const alone = uses({ only: 1, other: 1 });

test.each([
  ["a status", hasStatus, { routes: [{ path: "/status", operation: "status" }, ...bare.routes] }, "routes"],
  ["a fixed window", hasWindows, { quotas: { only: { algorithm: window } } }, "quotas"],
  ["quotas that are charged together", hasTogether, { quotas: two, ...alone }, "operations"],
  [
    "operations of different quotas",
    hasOthers,
    { quotas: two, ...uses({ only: 1 }, { other: 1 }) },
    "operations",
  ],
  [
    "a quota kept by what tokens tell",
    hasCallers,
    { quotas: { only: { algorithm: bucket, key: ["user"] } } },
    "auth.attributes",
  ],
  [
    "a quota that refuses nobody",
    hasUnenforced,
    { quotas: { only: { algorithm: bucket, enforced: false } } },
    "quotas",
  ],
  ["a call that costs more than 1", isDearer, uses({ only: 2 }), "operations"],
  ["a call that declares its cost", isDeclared, uses({ only: "declared" }), "operations"],
  [
    "a key of two attributes",
    hasJoinedKey,
    {
      quotas: { only: { algorithm: bucket, key: ["organization", "user"] } },
      auth: { attributes: ["organization", "user"] },
    },
    "quotas",
  ],
] as const)("%s", (_name, problemIn, changes, path) => {
  expect(problemIn(policyOf(changes))).toBeNull();
  expect(problemIn(policyOf())).toMatchObject({ path });
});

test("quotas are not charged together where each call uses one, or each is charged alone", () => {
  expect(hasTogether(policyOf({ quotas: two, ...uses({ only: 1 }, { other: 1 }) }))).not.toBeNull();
  const each = { call0: { uses: { only: 1, other: 1 }, relation: "each-alone" } };
  expect(hasTogether(policyOf({ quotas: two, ...alone, operations: each }))).not.toBeNull();
});

test("operations of one and the same quotas are not different", () => {
  expect(hasOthers(policyOf({ quotas: two, ...alone }))).not.toBeNull();
});

test("a quota that an override lets refuse nobody counts, too", () => {
  const overrides = [{ match: { user: "ann" }, quotas: { only: { enforced: false } } }];
  const quotas = { only: { algorithm: bucket, key: ["user"] } };
  expect(hasUnenforced(policyOf({ quotas, overrides }))).toBeNull();
});

test("a declared cost is more than 1 for all that is known, and a fixed one is not declared", () => {
  expect(isDearer(policyOf(uses({ only: "declared" })))).toBeNull();
  expect(isDeclared(policyOf(uses({ only: 2 })))).not.toBeNull();
});

test("tokens' last attribute is the caller", () => {
  const quotas = { only: { algorithm: bucket, key: ["organization"] } };
  expect(hasCallers(policyOf({ quotas, auth: { attributes: ["organization", "user"] } }))).not.toBeNull();
});

test("the quotas that refusals name first are each operation's first, in the policy's order", () => {
  const quotas = { one: { algorithm: bucket }, two: { algorithm: bucket }, three: { algorithm: bucket } };
  expect([...firstQuotas(policyOf({ quotas, ...uses({ three: 1, two: 1 }, { three: 1 }) }))]).toEqual([
    "two",
    "three",
  ]);
});

test("headers are doubled where a reading has some", () => {
  const inBody = { body: { "/limit": "{limit}", "/left": "{remaining}" } };
  const inHeaders = { headers: { "X-Limit": "{limit}", "X-Left": "{remaining}" } };
  const unfit = (...readings: object[]) =>
    headersTwice.unfit(policyOf({ wire: { revision: "1", readings } }));
  expect(unfit(inBody)).toEqual({
    path: "wire.readings",
    got: "no header",
    allowed: "readings in headers",
  });
  expect(unfit(inHeaders)).toBeNull();
  expect(unfit(inBody, inHeaders)).toBeNull();
  expect(unfit({ headers: { "X-Limit": "{remaining}/{limit}" } })).toBeNull();
});

test.each(["refused", "status"] as const)("readings are left out of %s where some are on it", (kind) => {
  const reading = (on?: readonly string[]) => ({
    ...{ headers: { "X-Limit": "{limit}", "X-Left": "{remaining}" } },
    ...(on && { on }),
  });
  const unfit = (...readings: object[]) =>
    silentOn(kind).unfit(policyOf({ wire: { revision: "1", readings } }));
  expect(unfit(reading(["admitted"]))).toEqual({
    path: "wire.readings",
    got: `none on ${kind}`,
    allowed: `readings on ${kind}`,
  });
  expect(unfit(reading([kind]))).toBeNull();
  expect(unfit(reading(["admitted"]), reading(["admitted", kind]))).toBeNull();
});

test("readings and resets are changed where there are some of the kind", () => {
  const reading = (form?: string) => ({
    headers: { "X-Limit": "{remaining}/{limit}", ...(form && { "X-Reset": "{reset}" }) },
    ...(form && { reset: { form, means: "estimate" } }),
  });
  const gotBy = (...forms: (string | undefined)[]) => {
    const policy = policyOf({ wire: { revision: "1", readings: forms.map(reading) } });
    const faults = [readingsTold((told) => told), resetsPast, resetsZero];
    return faults.map((fault) => fault.unfit(policy)?.got);
  };
  const [fits, inSeconds] = [undefined, "no reset in seconds from the answer on"];
  expect(gotBy()).toEqual(["none", "no reset", inSeconds]);
  expect(gotBy(undefined)).toEqual([fits, "no reset", inSeconds]);
  expect(gotBy(undefined, "epoch-s")).toEqual([fits, fits, inSeconds]);
  expect(gotBy("epoch-s", "delta-s")).toEqual([fits, fits, fits]);
});

test("retries are told too soon where a header tells them, and a quota is told by it", () => {
  const fits = (retryAfter: readonly object[], isShown: boolean) => {
    const shown = isShown ? {} : { shown: { retryAfter: false } };
    const quotas = { only: { algorithm: bucket, ...shown } };
    const policy = policyOf({ quotas, wire: { revision: "1", retryAfter } });
    return retriesSoon.unfit(policy) === null;
  };
  const header = { header: "Retry-After", form: "delta-s" };
  expect([fits([header], true), fits([], true), fits([header], false)]).toEqual([true, false, false]);
});
