// One client in k6: its calls over HTTP, a line and a check for each answer.
import { check, sleep } from "k6";
import http from "k6/http";
import { Rate, Trend } from "k6/metrics";
import { callPath, callQuery } from "../../scenario/calls.ts";
import type { CallTemplate, ClientEvent, PlannedCall } from "../../scenario/client.ts";
import type { Population } from "../../scenario/scenario.ts";
import { Answer, isCutOff, type RawAnswer, tell } from "../answer.ts";
import { callLine, type LineParts, lineParts } from "../call-line.ts";
import type { World } from "../drive.ts";
import { LoneOrganization } from "../lone-organization.ts";
import { mayBePlain, readPlain } from "../plain-answer.ts";
import { refusalFault } from "../refusal-checks.ts";
import { type HeaderBounds, headerBounds, headerFault, LoneUser } from "../response-checks.ts";
import { metricNames, refusalsExpected } from "../thresholds.ts";
import type { Caller, Settings } from "./settings.ts";

const refusedRate = new Rate(metricNames.refused);
const waitTrend = new Trend(metricNames.wait, true);

/** k6 takes values as well as functions here, and calls none then; its types know functions only. */
const verdict = (name: string, holds: boolean) =>
  ({ [name]: holds }) as unknown as Parameters<typeof check>[1];
/** One `check` a response, which names what failed: five cost a tenth of the throughput. */
const passed = verdict("answer as the rules say", true);
const passedRefusal = verdict("refusal as the rules say", true);

/** What stays the same for all calls of one template. */
interface Prepared {
  readonly template: CallTemplate;
  readonly line: LineParts;
  readonly bounds: HeaderBounds;
  readonly mayBePlain: boolean;
  readonly method: string;
  /** `null` where it depends on the page. */
  readonly url: string | null;
  readonly body: string | null;
  readonly params: object;
}

/** Whether a population is one client, and no other uses its organization. */
function isAlone({ scenario, callers }: Settings, population: Population, organization: string): boolean {
  if (population.clients !== 1) return false;
  return scenario.populations.every((other, place) => {
    const seats = callers[place] ?? [];
    // What k6 shares between clients is no whole array.
    for (let n = 0; n < seats.length && other !== population; n++)
      if (seats[n]?.organization === organization) return false;
    return true;
  });
}

/** Thrown where k6 ends a client: it has no last line then, and what it had on the way counts as lost. */
export class CutOff extends Error {}

/** The world of one client. */
export class Client implements World {
  readonly #settings: Settings;
  readonly #caller: Caller;
  readonly #prepared: readonly Prepared[];
  readonly #lone: LoneUser | null;
  /** Sees more than one that is alone as its user only. */
  readonly #alone: LoneOrganization | null;
  readonly #answer = new Answer();
  #calls = 0;

  constructor(settings: Settings, population: Population, name: string, caller: Caller) {
    this.#settings = settings;
    this.#caller = caller;
    const { organization, user } = caller;
    const isInTurn = population.behaviour.inFlightMost === 1 && !settings.shared;
    this.#alone =
      isInTurn && isAlone(settings, population, organization)
        ? new LoneOrganization(settings.scenario.rules, organization, user)
        : null;
    this.#lone = isInTurn && population.user === "each" && this.#alone === null ? new LoneUser() : null;
    this.#prepared = population.behaviour.calls.map((template) => this.#prepare(template, name));
    const expected = { min: 200, max: 399 };
    // Of this VU, which is this client's for its whole life.
    http.setResponseCallback(
      refusalsExpected(settings.scenario.expect, population.name)
        ? http.expectedStatuses(expected, 429)
        : http.expectedStatuses(expected),
    );
  }

  #prepare(template: CallTemplate, name: string): Prepared {
    const { organization, user, token } = this.#caller;
    const { scenario, timeoutMs } = this.#settings;
    const isQuery = template.scope === "graphql";
    return {
      template,
      line: lineParts(name, organization, user, template),
      mayBePlain: this.#alone === null && mayBePlain(template),
      method: template.method,
      url: this.#fixedUrl(template),
      bounds: headerBounds(scenario.rules, organization, user, template.scope),
      body: isQuery ? JSON.stringify({ query: callQuery(template, organization) }) : null,
      params: {
        headers: {
          Authorization: `Bearer ${token}`,
          ...(isQuery ? { "Content-Type": "application/json" } : {}),
          ...template.headers,
        },
        // k6 groups its metrics by this rather than by each page's URL.
        tags: { name: template.name },
        timeout: timeoutMs,
      },
    };
  }

  #fixedUrl(template: CallTemplate): string | null {
    if (template.scope === "graphql") return this.#settings.graphqlUrl;
    const url = (page: number): string =>
      this.#settings.base + callPath(template, this.#caller.organization, page);
    return url(1) === url(2) ? url(1) : null;
  }

  now(): number {
    return Date.now();
  }

  sleep(ms: number): void {
    sleep(ms / 1000);
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

  send(
    planned: Readonly<PlannedCall>,
    event: ClientEvent,
    answered: () => void,
    failed: (thrown: unknown) => void,
  ): void {
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
          failed(thrown);
          return;
        }
        answered();
      }, failed);
  }

  #of({ template }: Readonly<PlannedCall>): Prepared {
    const prepared = this.#prepared[template];
    if (prepared === undefined) throw new RangeError(`there is no call ${template}`);
    return prepared;
  }

  #pageUrl({ template }: Prepared, { page }: Readonly<PlannedCall>): string {
    return this.#settings.base + callPath(template, this.#caller.organization, page);
  }

  /** The line, what the client is told, the check, the metrics. */
  #finish(
    prepared: Prepared,
    planned: Readonly<PlannedCall>,
    call: number,
    response: RawAnswer,
    sentMs: number,
    event: ClientEvent,
  ): void {
    const receivedMs = Date.now();
    const { template, bounds } = prepared;
    let line = prepared.mayBePlain
      ? readPlain(response, prepared.line, bounds, call, planned, sentMs, receivedMs, event)
      : null;
    let fault: string | null = null;
    let isCounted = true;
    if (line === null) {
      if (isCutOff(response)) throw new CutOff();
      const answer = this.#answer;
      answer.read(template, response, sentMs, receivedMs, this.#caller.token);
      tell(event, answer);
      line = callLine(prepared.line, call, planned, answer);
      const { rules } = this.#settings.scenario;
      fault = headerFault(answer, bounds) ?? refusalFault(template, answer, rules);
      if (this.#alone !== null) {
        const found = this.#alone.answered(template, answer);
        fault ??= found;
      }
      isCounted = answer.kind === "call" && answer.status !== 0;
    }
    if (this.#settings.trace) console.log(line);
    if (this.#lone !== null) {
      const found = this.#lone.answered(template, event);
      fault ??= found;
    }
    const isRefusal = event.status === 429;
    check(null, fault !== null ? verdict(fault, false) : isRefusal ? passedRefusal : passed);
    const { measured } = this.#settings;
    if (!isCounted || measured === null) return;
    if (measured.refused) refusedRate.add(isRefusal);
    if (measured.wait && !isRefusal) waitTrend.add(receivedMs - planned.wantedMs);
  }
}
