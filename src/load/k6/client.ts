// One client in k6: its calls over HTTP, and a line and a check for each answer.
import { check, sleep } from "k6";
import http from "k6/http";
import { Rate, Trend } from "k6/metrics";
import type { CallTemplate, ClientEvent, PlannedCall } from "../../scenario/client.ts";
import type { Population } from "../../scenario/scenario.ts";
import { REFUSED } from "../../wire/outcome.ts";
import { refusalStatuses } from "../../wire/read-answer.ts";
import { isCutOff, type RawAnswer } from "../answer.ts";
import type { Caller } from "../callers.ts";
import type { StillWorld, ToldOutcome } from "../drive.ts";
import { type AnswerLedger, Ledger, type LedgerPage } from "../ledger.ts";
import { PolicyLedger } from "../policy-ledger.ts";
import { pageUrl, requestParts } from "../request.ts";
import { metricNames, refusalsExpected } from "../thresholds.ts";
import type { Settings } from "./settings.ts";

const refusedRate = new Rate(metricNames.refused);
const waitTrend = new Trend(metricNames.wait, true);

/** Makes a check of a value. k6 takes values as well as functions here; its types know functions only. */
const verdict = (name: string, holds: boolean) =>
  ({ [name]: holds }) as unknown as Parameters<typeof check>[1];
/** One `check` for each response, which names what failed. Five checks would cost a tenth of the throughput. */
const passed = verdict("answer as the rules say", true);
const passedRefusal = verdict("refusal as the rules say", true);

/** Parts that all calls of one template share. */
interface Prepared {
  readonly page: LedgerPage;
  readonly method: string;
  /** `null` if it depends on the page. */
  readonly url: string | null;
  readonly body: string | null;
  readonly params: object;
}

/** Thrown when k6 ends a client. The client then has no last line, and its calls on the way count as lost. */
export class CutOff extends Error {}

export class Client implements StillWorld {
  readonly #settings: Settings;
  readonly #caller: Caller;
  readonly #ledger: AnswerLedger;
  readonly #prepared: readonly Prepared[];
  #calls = 0;

  constructor(settings: Settings, population: Population, name: string, caller: Caller) {
    this.#settings = settings;
    this.#caller = caller;
    const { book } = settings;
    this.#ledger =
      book === null ? new Ledger(settings, population, name, caller) : new PolicyLedger(book, name, caller);
    this.#prepared = population.behaviour.calls.map((template) => this.#prepare(template));
    const isExpected = refusalsExpected(settings.scenario.expect, population.name);
    const refusals = isExpected ? [REFUSED, ...(book === null ? [] : refusalStatuses(book.wire))] : [];
    // This holds for one VU, which is this client's for its whole life.
    http.setResponseCallback(http.expectedStatuses({ min: 200, max: 399 }, ...refusals));
  }

  #prepare(template: CallTemplate): Prepared {
    const { book } = this.#settings;
    const { method, url, body, headers } = requestParts(template, this.#caller, this.#settings, book?.policy);
    return {
      page: this.#ledger.page(template),
      method,
      url,
      body,
      // k6 groups its metrics by this tag and not by each page's URL.
      params: { headers, tags: { name: template.name }, timeout: this.#settings.timeoutMs },
    };
  }

  now(): number {
    return Date.now();
  }

  sleep(ms: number): void {
    sleep(ms / 1000);
  }

  at(atMs: number, action: () => void): void {
    setTimeout(action, atMs - Date.now());
  }

  request(planned: Readonly<PlannedCall>, event: ClientEvent): void {
    const prepared = this.#of(planned);
    const { method, body, params } = prepared;
    const call = this.#calls;
    this.#calls = call + 1;
    const sentMs = Date.now();
    const response = http.request(method, prepared.url ?? this.#pageUrl(prepared, planned), body, params);
    this.#finish(prepared, planned, call, response, sentMs, event);
  }

  send(planned: Readonly<PlannedCall>, event: ClientEvent, told: ToldOutcome): void {
    const prepared = this.#of(planned);
    const { method, body, params } = prepared;
    const call = this.#calls;
    this.#calls = call + 1;
    const sentMs = Date.now();
    http
      .asyncRequest(method, prepared.url ?? this.#pageUrl(prepared, planned), body, params)
      .then((response) => {
        try {
          this.#finish(prepared, planned, call, response, sentMs, event);
        } catch (thrown) {
          told.failed(thrown);
          return;
        }
        told.answered();
      }, told.failed);
  }

  #of({ template }: Readonly<PlannedCall>): Prepared {
    const prepared = this.#prepared[template];
    if (prepared === undefined) throw new RangeError(`there is no call ${template}`);
    return prepared;
  }

  #pageUrl({ page: { template } }: Prepared, { page }: Readonly<PlannedCall>): string {
    return pageUrl(template, this.#caller, this.#settings, page);
  }

  /** Writes the line, tells the client, makes the check and adds to the metrics. */
  #finish(
    prepared: Prepared,
    planned: Readonly<PlannedCall>,
    call: number,
    response: RawAnswer,
    sentMs: number,
    event: ClientEvent,
  ): void {
    const receivedMs = Date.now();
    if (response.status === 0 && isCutOff(response)) throw new CutOff();
    const ledger = this.#ledger;
    const { measured, book } = this.#settings;
    const answer = book === null ? response : { ...response, headers: lowerCase(response.headers) };
    const line = prepared.page.take(call, planned, answer, sentMs, receivedMs, event);
    if (this.#settings.trace) console.log(line);
    const { fault, isRefusal } = ledger;
    if (book === null)
      check(null, fault !== null ? verdict(fault, false) : isRefusal ? passedRefusal : passed);
    if (!ledger.isCounted || measured === null) return;
    if (measured.refused) refusedRate.add(isRefusal);
    if (measured.wait && !isRefusal) waitTrend.add(receivedMs - planned.wantedMs);
  }
}

/** Returns the headers by names in lower case, as policies have them. Go spells them in its own way. */
function lowerCase(headers: RawAnswer["headers"]): RawAnswer["headers"] {
  const named: Record<string, string | undefined> = {};
  for (const name of Object.keys(headers)) named[name.toLowerCase()] = headers[name];
  return named;
}
