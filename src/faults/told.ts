// Faults in what answers by a policy show: the limiter behind them is right.
import { PolicyLimiter } from "../engine/policy-limiter.ts";
import type { Policy, Shown } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { AnswerKind, TimeForm, WireData, WireReading } from "../policy/wire-data.ts";
import type { Problem } from "../rules/errors.ts";
import type { AnswerToWrite } from "../wire/write-answer.ts";
import type { CountedCaller } from "./counter.ts";
import type { FaultyQuotas, QuotaFault } from "./fault.ts";
import { hasStatus } from "./fits.ts";

const right = (policy: Policy, changed: Omit<FaultyQuotas, "store">): FaultyQuotas => ({
  store: new PolicyLimiter(policy),
  ...changed,
});

const rowsOf = (policy: Policy): readonly WireReading[] => wireOf(policy).readings;

/** Resets that tell whole seconds from the answer on. */
const inSeconds = (policy: Policy): Problem | null =>
  rowsOf(policy).some(({ reset }) => reset?.form === "delta-s")
    ? null
    : {
        path: "wire.readings",
        got: "no reset in seconds from the answer on",
        allowed: "a reset of the form delta-s",
      };

/** A right limiter whose resets are written in another form. */
export const resetsAs = (form: TimeForm): QuotaFault => ({
  unfit: inSeconds,
  inject(policy) {
    const wire = wireOf(policy);
    const changed = wire.readings.map((row) =>
      row.reset?.form === "delta-s" ? { ...row, reset: { ...row.reset, form } } : row,
    );
    return right(policy, { wire: { ...wire, readings: changed } });
  },
});

/** A right limiter whose seconds are rounded otherwise. */
export const resetsRounded = (reset: Shown["reset"]): QuotaFault => ({
  unfit: inSeconds,
  inject(policy) {
    const quotas = Object.entries(policy.quotas).map(([name, quota]) => [
      name,
      { ...quota, shown: { ...quota.shown, reset } },
    ]);
    return right(policy, { shownBy: { ...policy, quotas: Object.fromEntries(quotas) as Policy["quotas"] } });
  },
});

/** A right limiter, each of its readings changed before it is written. */
const readingsTold = (
  change: (
    reading: AnswerToWrite["readings"][number],
    told: AnswerToWrite,
    nowMs: number,
    policy: Policy,
  ) => AnswerToWrite["readings"][number],
  unfit: QuotaFault["unfit"] = (policy) => (rowsOf(policy).length > 0 ? null : showsNone),
): QuotaFault => ({
  unfit,
  inject: (policy) =>
    right(policy, {
      tell: (told, _caller, nowMs) => ({
        ...told,
        readings: told.readings.map((reading) => change(reading, told, nowMs, policy)),
      }),
    }),
});

const showsNone: Problem = { path: "wire.readings", got: "none", allowed: "answers that show readings" };

const showsResets = (policy: Policy): Problem | null =>
  rowsOf(policy).some(({ reset }) => reset !== undefined)
    ? null
    : { path: "wire.readings", got: "no reset", allowed: "answers that show resets" };

/** Resets that count to where the window began. */
export const resetsPast = readingsTold((reading, _told, _nowMs, { quotas }) => {
  const algorithm = quotas[reading.quota]?.algorithm;
  const lengthMs = algorithm?.kind === "fixed-window" ? algorithm.windowSeconds * 1000 : 0;
  return { ...reading, resetAtMs: reading.resetAtMs - lengthMs };
}, showsResets);

/** Resets of 0 in a window's last second. */
export const resetsZero = readingsTold(
  (reading, _told, nowMs) =>
    reading.resetAtMs - nowMs <= 1000
      ? { ...reading, resetAtMs: Math.min(nowMs, reading.resetAtMs) }
      : reading,
  inSeconds,
);

/** The first refusal of a window is kept, and its reset sent with every later one. */
export const resetsKept: QuotaFault = {
  unfit: inSeconds,
  inject(policy) {
    const kept = new Map<string, { readonly resetAtMs: number; readonly leftMs: number }>();
    const tell = (told: AnswerToWrite, caller: CountedCaller, nowMs: number): AnswerToWrite => {
      if (told.refusedBy === null) return told;
      const readings = told.readings.map((reading) => {
        if (reading.quota !== told.refusedBy) return reading;
        const name = JSON.stringify([reading.quota, caller]);
        const known = kept.get(name);
        const first =
          known?.resetAtMs === reading.resetAtMs
            ? known
            : { resetAtMs: reading.resetAtMs, leftMs: reading.resetAtMs - nowMs };
        kept.set(name, first);
        return { ...reading, resetAtMs: nowMs + first.leftMs };
      });
      return { ...told, readings };
    };
    return right(policy, { tell });
  },
};

/** A status that shows unused quotas. */
export const statusPristine = readingsTold(
  (reading, { kind }) => (kind === "status" ? { ...reading, used: 0, remaining: reading.limit } : reading),
  hasStatus,
);

/** The last quota of each call, shown as if it had twice the limit. */
export const lastLaxer = readingsTold((reading, { readings, kind }) =>
  kind !== "status" && reading === readings.at(-1)
    ? { ...reading, limit: 2 * reading.limit, remaining: reading.remaining + reading.limit }
    : reading,
);

/** Answers of one kind without readings. */
export const silentOn = (kind: AnswerKind): QuotaFault => ({
  unfit: (policy) =>
    rowsOf(policy).some(({ on }) => on.includes(kind))
      ? null
      : { path: "wire.readings", got: `none on ${kind}`, allowed: `readings on ${kind}` },
  inject(policy) {
    const wire = wireOf(policy);
    const silent = wire.readings.map((row) => ({ ...row, on: row.on.filter((each) => each !== kind) }));
    return right(policy, { wire: { ...wire, readings: silent } satisfies WireData });
  },
});

/** Every header of a reading twice: HTTP joins the values of one name. */
export const headersTwice: QuotaFault = {
  unfit: (policy) =>
    rowsOf(policy).some(({ headers }) => Object.keys(headers).length > 0)
      ? null
      : { path: "wire.readings", got: "no header", allowed: "readings in headers" },
  inject(policy) {
    const names = new Set(
      rowsOf(policy).flatMap(({ headers }) => Object.keys(headers).map((name) => name.toLowerCase())),
    );
    return right(policy, {
      change: (answer) => ({
        ...answer,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [
            name,
            names.has(name.toLowerCase()) ? `${value}, ${value}` : value,
          ]),
        ),
      }),
    });
  },
};
