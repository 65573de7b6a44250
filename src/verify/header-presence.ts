// `headers-present` (SPEC.md §5, §7): every answer that owes the eight headers has them, as integers, under the names
// of the call's own windows.

import { quotaNames } from "../policy/names.ts";
import { type Owner, owners } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import type { RulesOwner } from "../trace/whose.ts";
import { hasHeaders, headerNames, headersOf, namesOtherQuota, type WindowHeaders } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import { type AnswerBreach, accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Suspect } from "./suspects.ts";

const law = "headers-present";
const numbers = ["limit", "remaining", "reset"] as const;

/** Judges both owners' headers of an answer, if it owes them. */
export function checkPresence(
  line: number,
  call: TraceCall,
  whose: Readonly<Record<Owner, RulesOwner>>,
  docket: Docket,
): void {
  if (!owesHeaders(call)) return;
  const tested = docket.evidence[law];
  const before = tested.readings;
  for (const owner of owners) {
    const headers = headersOf(call, owner);
    const { scopeName } = headers;
    if (scopeName !== null && namesOtherQuota(scopeName)) {
      docket.otherQuotas.add(call.scope, owner, String(scopeName), line);
      continue;
    }
    tested.readings += 1;
    for (const breach of [
      missing(call, headers, owner),
      noInteger(headers, owner),
      wrongName(call, headers, owner),
    ])
      if (breach !== null) accuseAnswer(docket, line, whose[owner], breach);
  }
  if (isRefusal(call.status) && tested.readings > before) tested.refusals += 1;
}

/**
 * Tells whether an answer owes the eight headers (SPEC.md §5): it went to an authenticated caller of a known
 * organization. A bare 404 may be that of an unknown organization.
 */
function owesHeaders(call: TraceCall): boolean {
  const { kind, status, scope } = call;
  if (status === 401) return false;
  if (hasHeaders(call)) return true;
  if (status === 404) return false;
  if (kind !== "other") return true;
  return status === 403 || (scope === "graphql" && [200, 400, 405, 413, 415].includes(status));
}

function missing(call: TraceCall, headers: WindowHeaders, owner: Owner): AnswerBreach | null {
  const absent = (["scopeName", ...numbers] as const).filter((field) => headers[field] === null);
  if (absent.length === 0) return null;
  const names = absent.map((field) => headersOf(headerNames, owner)[field]).join(", ");
  return {
    law,
    breach: `missing on ${call.kind} ${call.status}`,
    suspects: missingSuspects(call),
    explanation: `(${call.kind}, status ${call.status}) came without ${names}`,
  };
}

function missingSuspects({ status, kind }: TraceCall): readonly Suspect[] {
  if (isRefusal(status)) return ["headers-missing-on-429"];
  return kind === "status" ? ["headers-missing-on-status"] : [];
}

function noInteger(headers: WindowHeaders, owner: Owner): AnswerBreach | null {
  const texts = numbers.filter((field) => typeof headers[field] === "string");
  if (texts.length === 0) return null;
  const shown = texts.map(
    (field) => `${headersOf(headerNames, owner)[field]} ${JSON.stringify(headers[field])}`,
  );
  return {
    law,
    breach: "no integer",
    suspects: texts.some((field) => isList(headers[field]))
      ? ["headers-doubled"]
      : texts.includes("reset")
        ? ["reset-epoch"]
        : [],
    explanation: `has headers that are no integer: ${shown.join(", ")}`,
  };
}

function wrongName({ scope }: TraceCall, { scopeName }: WindowHeaders, owner: Owner): AnswerBreach | null {
  const own = quotaNames[scope][owner];
  if (scopeName === null || scopeName === own) return null;
  return {
    law,
    breach: "scope name",
    suspects: [isList(scopeName) ? "headers-doubled" : "wrong-scope-header"],
    explanation: `names the ${owner}'s scope ${JSON.stringify(scopeName)}, which should be "${own}"`,
  };
}

/** Tells whether a header came twice: `5, 5`, as HTTP joins values of one name. A date has letters around its comma. */
function isList(value: unknown): boolean {
  return typeof value === "string" && /^(.*\S)\s*,\s*\1$|^-?\d+(\s*,\s*-?\d+)+$/.test(value);
}
