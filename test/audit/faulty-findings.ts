// Each fault of the catalogue that a network shows, the experiments that go where it shows, and what they find of it in
// virtual time: experiment, operation, law, and what was got in place of what was expected.
export const faultyFindings: Readonly<
  Record<string, { readonly made: string; readonly found: readonly string[] }>
> = {
  "race-read-then-write": {
    made: "calls-at-once last-place-8",
    found: [
      "calls-at-once, rest: conserved: rest rises by 17: by 2",
      "calls-at-once, graphql: conserved: graphql rises by 68: by 8",
      "last-place-8, rest: bounded: one call is admitted: 8 are, of rest_user's last place",
      "agreement: conserved",
      "agreement: twice-at-most",
    ],
  },
  "one-short": {
    made: "cost-that-fits-exactly last-place-2",
    found: [
      "cost-that-fits-exactly, graphql: refusal-justified: 4992 units admitted, as many as are left: refused",
      "last-place-2, rest: refusal-justified: one call is admitted: rest_user showed 1 left: all are refused",
      "agreement: refusal-justified",
    ],
  },
  "one-extra": {
    made: "last-place-2 last-place-8",
    found: [
      "last-place-2, rest: bounded: one call is admitted: 2 are, of rest_user's last place",
      "last-place-8, rest: bounded: one call is admitted: 2 are, of rest_user's last place",
      "agreement: conserved",
      "agreement: refusal-justified",
      "agreement: bounded",
    ],
  },
  "cost-ignored": {
    made: "cost-as-told cost-that-fits-exactly",
    found: [
      "cost-that-fits-exactly, graphql: refusal-justified: 4988 units refused, 4987 being left: admitted",
      "agreement: conserved",
    ],
  },
  "cost-over-limit-admitted": {
    made: "cost-above-the-limit",
    found: [
      "cost-above-the-limit, graphql: refusal-justified: 5001 units refused: graphql_user's limit is 5000: admitted",
      "agreement: refusal-justified",
    ],
  },
  "double-count": {
    made: "cost-as-told",
    found: [
      "cost-as-told, rest: conserved: two calls of 1 unit take 2 of rest: 4",
      "cost-as-told, graphql: conserved: two calls of 4 units take at most 8 of graphql: 16",
      "agreement: conserved",
    ],
  },
  "refused-counted": {
    made: "cost-that-fits-exactly",
    found: [
      "cost-that-fits-exactly, graphql: refusal-justified: 4992 units admitted, as many as are left: refused",
      "agreement: conserved",
    ],
  },
  "narrow-drains-broad": {
    made: "cost-above-the-limit refusal-is-free",
    found: [
      "cost-above-the-limit, graphql: all-or-nothing: the refused call is charged nowhere: graphql 5001",
      "refusal-is-free, rest: all-or-nothing: rest stays at 51 used: 53 used after 2 more refusals",
      "agreement: conserved",
    ],
  },
  "status-charged": {
    made: "status-is-free",
    found: [
      "status-is-free, rest: status-free: 2 status calls, charged nowhere: rest 4, rest_user 2",
      "agreement: conserved",
    ],
  },
  "refusal-names-user": {
    made: "dear-refusal-names-the-quota",
    found: [
      "dear-refusal-names-the-quota, graphql: refusal-agrees: a refusal by graphql, the first of those that lack room: one by graphql_user",
      "agreement: refusal-agrees",
    ],
  },
  "unenforced-refuses": {
    made: "refusal-names-the-quota last-place-2",
    found: ["agreement: unenforced-never-refuses"],
  },
  "wrong-user-key": {
    made: "other-user",
    found: [
      "other-user, rest: isolated: 3 calls of the other caller: charged to its own: rest_user 3",
      "other-user, graphql: isolated: 3 calls of the other caller: charged to its own: graphql_user 12",
      "agreement: conserved",
    ],
  },
  "user-key-from-header": {
    made: "twin-forwarded-for",
    found: [
      "twin-forwarded-for, rest: isolated: charged as 5 plain calls in rest_user (1 each): rest_user 2",
      "twin-forwarded-for, graphql: isolated: charged as 5 plain calls in graphql_user (4 each): graphql_user 8",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "client-picks-key": {
    made: "twin-other-client",
    found: [
      "twin-other-client, rest: isolated: charged as 3 plain calls in rest_user (1 each): rest_user 2",
      "twin-other-client, graphql: isolated: charged as 3 plain calls in graphql_user (4 each): graphql_user 8",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "keys-hashed": {
    made: "each-caller-apart",
    found: [
      "each-caller-apart, rest: isolated: rest_user of acme/user-2 rises by 1: by 2",
      "each-caller-apart, graphql: isolated: graphql_user of acme/user-2 rises by 4: by 8",
      "agreement: conserved",
    ],
  },
  "scopes-mixed": {
    made: "other-operation",
    found: [
      "other-operation, rest: isolated: calls of graphql are not charged here: rest 3, rest_user 3",
      "other-operation, graphql: isolated: calls of rest are not charged here: graphql 3, graphql_user 3",
      "agreement: conserved",
    ],
  },
  "new-reset-old-count": {
    made: "calls-across-the-reset",
    found: ["agreement: conserved"],
  },
  "two-interleaved-windows": {
    made: "window-on-its-grid status-is-true",
    found: [
      "status-is-true, rest: monotone: rest between 2 and 3 used: the status shows 1",
      "status-is-true, graphql: monotone: graphql between 8 and 8 used: the status shows 4",
      "agreement: reset-agrees",
    ],
  },
  "lost-expiry": {
    made: "calls-across-the-reset",
    found: ["agreement: conserved"],
  },
  "immortal-by-polling": {
    made: "window-watched first-calls-at-once",
    found: ["agreement: conserved"],
  },
  "rearmed-per-hit": {
    made: "window-on-its-grid calls-across-the-reset",
    found: ["agreement: conserved", "agreement: reset-agrees"],
  },
  "reset-all-sweep": {
    made: "window-watched",
    found: [
      "window-watched, rest: monotone: rest_user keeps its count for 2.7 s more at least: 1 used, after 7",
      "window-watched, graphql: monotone: graphql_user rises from 24 used by 4: 4 used",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "double-roll": {
    made: "window-watched first-calls-at-once",
    found: [
      "window-watched, graphql: monotone: graphql_user rises from 20 used by 4: 4 used",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "status-opens-window": {
    made: "pause-then-status-then-call",
    found: [
      "pause-then-status-then-call, rest: reset-agrees: a window of rest of 5 s opens with the call: its end is 3.0 s ahead at most",
      "pause-then-status-then-call, graphql: reset-agrees: a window of graphql of 8 s opens with the call: its end is 6.0 s ahead at most",
      "agreement: reset-agrees",
    ],
  },
  "windows-back-to-back": {
    made: "pause-then-status-then-call",
    found: [
      "pause-then-status-then-call, rest: reset-agrees: a window of rest of 5 s opens with the call: its end is 2.0 s ahead at most",
      "pause-then-status-then-call, graphql: reset-agrees: a window of graphql of 8 s opens with the call: its end is 5.0 s ahead at most",
      "agreement: reset-agrees",
    ],
  },
  "organization-off-grid": {
    made: "window-on-its-grid",
    found: [
      "window-on-its-grid, graphql: reset-agrees: graphql_user ends with graphql: 1.0 s beside it at least",
      "agreement: reset-agrees",
    ],
  },
  "per-instance-counters": {
    made: "calls-at-once twin-head",
    found: [
      "twin-head, rest: conserved: charged as 1 plain call in rest (1 each): rest 0, rest_user 0",
      "calls-at-once, rest: conserved: rest rises by 17: by 5",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "stale-replica-read": {
    made: "status-is-true",
    found: [
      "status-is-true, rest: monotone: rest between 1 and 2 used: the status shows 0",
      "status-is-true, graphql: monotone: graphql between 4 and 8 used: the status shows 0",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "skewed-nodes": {
    made: "window-on-its-grid status-reset-agrees",
    found: [
      "status-reset-agrees, rest: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 8.0 s beside it at least",
      "status-reset-agrees, graphql: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 8.0 s beside it at least",
      "agreement: reset-agrees",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "limit-changes-mid-window": {
    made: "twin-head status-is-true",
    found: ["agreement: limit-agrees"],
  },
  "reset-in-ms": {
    made: "window-on-its-grid status-reset-agrees",
    found: [
      "status-reset-agrees, rest: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 3616.0 s beside it at least",
      "status-reset-agrees, graphql: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 3612.0 s beside it at least",
      "window-on-its-grid, graphql: reset-agrees: graphql ends with graphql: 2.0 s beside it at least",
      "agreement: reset-agrees",
    ],
  },
  "reset-epoch": {
    made: "window-on-its-grid status-reset-agrees",
    found: [
      "status-reset-agrees, rest: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 1767607199.0 s beside it at least",
      "status-reset-agrees, graphql: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 1767607199.0 s beside it at least",
      "agreement: headers-present",
      "agreement: reset-agrees",
    ],
  },
  "reset-zero": {
    made: "reset-of-the-last-second",
    found: [
      "reset-of-the-last-second, rest: reset-agrees: rest tells a reset of 1 s: 0 s",
      "reset-of-the-last-second, graphql: reset-agrees: graphql tells a reset of 1 s: 0 s",
      "agreement: reset-agrees",
    ],
  },
  "reset-negative": {
    made: "window-on-its-grid status-reset-agrees",
    found: [
      "status-reset-agrees, rest: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 3.0 s beside it at least",
      "status-reset-agrees, graphql: reset-agrees: /scopes/rest/reset_at tells the end that reset tells: an end 3.0 s beside it at least",
      "agreement: headers-present",
      "agreement: reset-agrees",
    ],
  },
  "reset-truncated": {
    made: "reset-of-the-last-second reset-is-kept",
    found: [
      "reset-is-kept, rest: honest-wait: admitted after the 4 s that reset told: refused",
      "reset-of-the-last-second, graphql: reset-agrees: graphql tells a reset of 1 s: 0 s",
      "reset-of-the-last-second, rest: reset-agrees: rest tells a reset of 1 s: 0 s",
      "agreement: reset-agrees",
    ],
  },
  "reset-at-drifts": {
    made: "status-reset-agrees",
    found: ["agreement: reset-agrees"],
  },
  "reset-disagrees": {
    made: "status-reset-agrees",
    found: [
      "status-reset-agrees, rest: reset-agrees: /scopes/graphql/reset_at tells the end that reset tells: an end 62.0 s beside it at least",
      "status-reset-agrees, graphql: reset-agrees: /scopes/graphql/reset_at tells the end that reset tells: an end 62.0 s beside it at least",
      "agreement: reset-agrees",
    ],
  },
  "stale-cached-reset": {
    made: "reset-counts-down reset-is-kept refusal-is-free",
    found: ["agreement: reset-agrees"],
  },
  "retry-too-soon": {
    made: "reset-is-kept reset-counts-down",
    found: [
      "reset-counts-down, rest: honest-wait: the refusal tells the 5 s until rest_user has room, as its reset does: 1 s",
      "reset-is-kept, rest: honest-wait: admitted after the 1 s that the refusal told: refused",
      "agreement: refusal-agrees",
    ],
  },
  "status-pristine": {
    made: "status-is-true",
    found: [
      "status-is-true, rest: monotone: rest between 1 and 2 used: the status shows 0",
      "status-is-true, graphql: monotone: graphql between 4 and 8 used: the status shows 0",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "status-shares-user": {
    made: "status-is-true",
    found: [
      "status-is-true, rest: monotone: rest between 3 and 4 used: the status shows 1",
      "status-is-true, graphql: monotone: graphql between 12 and 16 used: the status shows 4",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "headers-missing-on-429": {
    made: "headers-on-every-answer",
    found: [
      "headers-on-every-answer, graphql: headers-present: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset on every refused answer: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset missing on 429",
      "headers-on-every-answer, rest: headers-present: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset on every refused answer: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset missing on 429",
      "agreement: headers-present",
    ],
  },
  "headers-missing-on-status": {
    made: "headers-on-every-answer",
    found: [
      "headers-on-every-answer, graphql: headers-present: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset on every status answer: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset missing on 200",
      "headers-on-every-answer, rest: headers-present: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset on every status answer: RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset missing on 200",
      "agreement: headers-present",
    ],
  },
  "headers-doubled": {
    made: "headers-on-every-answer",
    found: [
      'headers-on-every-answer, graphql: headers-present: RateLimit-Scope in the form of the format, once: "graphql, graphql" on 200',
      'headers-on-every-answer, rest: headers-present: RateLimit-Scope in the form of the format, once: "rest, rest" on 200',
      "agreement: headers-present",
    ],
  },
  "wrong-scope-header": {
    made: "headers-on-every-answer",
    found: [
      "headers-on-every-answer, rest: headers-present: a quota of rest_user: another quota in RateLimit-User-Scope, RateLimit-User-Limit, RateLimit-User-Remaining, RateLimit-User-Reset",
      "agreement: limit-agrees",
      "agreement: headers-present",
    ],
  },
  "remaining-of-laxer-window": {
    made: "cost-that-fits-exactly",
    found: [
      "cost-that-fits-exactly, graphql: refusal-justified: 9992 units admitted, as many as are left: refused",
      "agreement: limit-agrees",
      "agreement: refusal-agrees",
      "agreement: refusal-justified",
    ],
  },
  "scheme-letters-pick-key": {
    made: "twin-letter-case-of-scheme",
    found: [
      "twin-letter-case-of-scheme, rest: conserved: charged as 2 plain calls in rest_user (1 each): rest_user 0",
      "twin-letter-case-of-scheme, graphql: conserved: charged as 2 plain calls in graphql_user (4 each): graphql_user 0",
      "agreement: conserved",
      "agreement: monotone",
    ],
  },
  "names-collide": {
    made: "names-once-joined",
    found: [
      "names-once-joined, rest: isolated: 3 calls of the other caller: charged to its own: rest_user 3",
      "names-once-joined, graphql: isolated: 3 calls of the other caller: charged to its own: graphql_user 12",
      "agreement: conserved",
    ],
  },
  "status-refused-when-empty": {
    made: "status-while-empty",
    found: ["status-while-empty, rest: status-free: 200: 429", "agreement: refusal-justified"],
  },
  "headers-missing-on-404": {
    made: "answered-404",
    found: [
      "answered-404, rest: headers-present: an answer of 404 that is charged shows its quotas: it shows none",
      "agreement: conserved",
    ],
  },
  "refusal-body-disagrees": {
    made: "refusal-names-the-quota",
    found: ["agreement: refusal-agrees"],
  },
  "refusal-503": {
    made: "refusal-names-the-quota",
    found: [
      "refusal-names-the-quota, rest: refusal-agrees: a refusal by rest_user as the format has it: 503 each time, which it has as none",
    ],
  },
  "refusal-shows-other-scope": {
    made: "headers-on-every-answer refusal-names-the-quota refusal-is-free",
    found: [
      "headers-on-every-answer, rest: headers-present: a quota of rest: another quota in RateLimit-Scope, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset",
      "agreement: headers-present",
    ],
  },
  "rejected-query-charged": {
    made: "query-that-cannot-be-read",
    found: [
      "query-that-cannot-be-read, graphql: conserved: charged as 0 plain calls in graphql (4 each): graphql 1, graphql_user 1",
      "agreement: conserved",
    ],
  },
  "first-calls-lost": {
    made: "first-calls-at-once",
    found: [
      "first-calls-at-once, rest: conserved: rest shows 9 used at least, of nine calls: 1 used",
      "agreement: conserved",
    ],
  },
  "rolls-early": {
    made: "window-watched",
    found: [
      "window-watched, rest: monotone: rest_user keeps its count for 0.7 s more at least: 1 used, after 12",
      "agreement: reset-agrees",
      "agreement: conserved",
    ],
  },
};
