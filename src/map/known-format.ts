// A preset's format that answers have, recognized by headers or members that other formats lack.

import { parsePolicy } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import { presets, wireOf } from "../policy/presets.ts";
import type { WireData, WireReading } from "../policy/wire-data.ts";
import { type AnswerReading, readAnswer } from "../wire/read-answer.ts";
import { isStructured } from "../wire/template.ts";
import { isLimitLike } from "./header-names.ts";
import type { SeenAnswers } from "./seen.ts";

/** Names that many APIs share, each with its own forms: they tell no format. */
const shared = /^(?:x-)?rate-?limit(?:-(?:limit|remaining|reset|used))?$|^retry-after$/;

export interface KnownFormat {
  readonly name: string;
  readonly policy: Policy;
  readonly wire: WireData;
  readonly readings: readonly (readonly AnswerReading[])[];
}

const headersOf = ({ readings, retryAfter, outcomes }: WireData): Set<string> =>
  new Set(
    [
      ...readings.flatMap(({ headers }) => Object.keys(headers)),
      ...retryAfter.flatMap((place) => ("header" in place ? [place.header] : [])),
      ...outcomes.flatMap(({ headers, lacks }) => [...Object.keys(headers), ...lacks]),
    ].map((name) => name.toLowerCase()),
  );

/** A preset, with the headers that its answers may have, and the headers of its readings, repeats included. */
interface ReadPreset extends Omit<KnownFormat, "readings"> {
  readonly headers: ReadonlySet<string>;
  readonly own: readonly string[];
}

let read: readonly ReadPreset[] | undefined;

/** Returns all presets, read once. */
function readPresets(): readonly ReadPreset[] {
  read ??= Object.entries(presets).map(([name, preset]) => {
    const policy = parsePolicy(preset.policy);
    const wire = wireOf(policy);
    const own = wire.readings.flatMap(({ headers }) =>
      Object.keys(headers).map((each) => each.toLowerCase()),
    );
    return { name, policy, wire, headers: headersOf(wire), own };
  });
  return read;
}

/** Returns the preset whose format all answers have; `null` if there is none, or the names alone do not tell. */
export function knownFormat(seen: readonly SeenAnswers[]): KnownFormat | null {
  const names = new Set(seen.flatMap(({ headers }) => Object.keys(headers)).filter(isLimitLike));
  const found = readPresets().flatMap(({ name, policy, wire, headers: known, own }) => {
    if (![...names].every((each) => known.has(each))) return [];
    const format = { name, policy, wire, readings: readingsBy(wire, policy, seen) };
    const told = isTold(wire, seen, [...names]);
    const isKnown =
      format.readings.some((each) => each.length > 0) &&
      format.readings.flat().every((each) => isOf(format, each));
    const unseen = own.filter((each) => !names.has(each)).length;
    return told && isKnown ? [{ format, rank: unseen + (name.startsWith("ietf") ? 0 : 0.5) }] : [];
  });
  return found.toSorted((one, other) => one.rank - other.rank)[0]?.format ?? null;
}

/** Tells whether a reading fits a format, which either names its quotas or shows those of any user. */
const isOf = ({ policy, wire }: KnownFormat, { quota }: AnswerReading): boolean =>
  quota === null ||
  Object.hasOwn(policy.quotas, quota) ||
  wire.readings.every(({ quotas }) => quotas === undefined);

/** Tells whether something was seen that few formats have: such a header, a structured field, or members of a body. */
function isTold(wire: WireData, seen: readonly SeenAnswers[], names: readonly string[]): boolean {
  if (wire.readings.some((row) => isOwnRow(row, names))) return isRead(wire, seen);
  const hasFields = wire.readings.some(({ headers }) =>
    Object.entries(headers).some(([name, form]) => isStructured(form) && names.includes(name.toLowerCase())),
  );
  const deep = wire.readings.some(({ body }) => Object.keys(body).some((at) => at.split("/").length > 2));
  return (hasFields || (names.length === 0 && deep)) && isRead(wire, seen);
}

/** Tells whether a row's headers were seen (all, or all but one of many), and one of them is not shared. */
function isOwnRow({ headers }: WireReading, seen: readonly string[]): boolean {
  const names = Object.keys(headers).map((each) => each.toLowerCase());
  const found = names.filter((each) => seen.includes(each));
  const isWhole = found.length >= names.length - (names.length >= 4 ? 1 : 0);
  const hasNumber = /\{(?:limit|remaining|used)\}/.test(JSON.stringify(headers));
  return isWhole && hasNumber && found.some((each) => !shared.test(each));
}

/** Tells whether every value that the format names could be read. */
const isRead = (wire: WireData, seen: readonly SeenAnswers[]): boolean =>
  seen.every((each) => readAnswer(wire, each, { quotas: [], isStatus: false }).unread.length === 0);

/** Returns the readings of each answer. A body that shows several quotas is a status's. */
const readingsBy = (wire: WireData, { quotas }: Policy, seen: readonly SeenAnswers[]): AnswerReading[][] =>
  seen.map((each) => {
    const asked = { quotas: Object.keys(quotas), isStatus: false };
    const read = readAnswer(wire, each, asked).readings;
    const status = readAnswer(wire, each, { ...asked, isStatus: true }).readings;
    return [...(status.length > read.length ? status : read)];
  });
