// The users that a replay would have hit, and how full each user's own windows were.

import { count, counted } from "../rules/words.ts";
import { type CallBar, callBars } from "./call-bars.ts";
import { instant, share } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery } from "./picture.ts";
import type { ReplayView } from "./replay-view.ts";
import { table } from "./table.ts";

const usersDrawn = 12;
const usersListed = 25;

export function usersSection(view: ReplayView, gallery: Gallery): Html | null {
  const { users, totals, useTitles, under } = view;
  const who = under === "rules" ? "user" : "caller";
  if (users.length === 0) return null;
  const bars = users.slice(0, usersDrawn).map(
    ({ short, calls, refused, refusedByUser, refusedByOrganization, refusedByQuota }): CallBar => ({
      name: short,
      admitted: calls - refused,
      refusedByUser,
      refusedByOrganization,
      refusedByQuota,
      refusedByUnknown: 0,
      unanswered: 0,
    }),
  );
  const listed = users.slice(0, usersListed);
  const title =
    totals.users <= usersDrawn
      ? `By ${who}`
      : totals.refused === 0
        ? `The ${who}s who called most`
        : `The ${who}s who would have been refused most`;
  return html`<section id="users">
<h2>Whom it would have hit</h2>
<figure><h3>${title}</h3>
${gallery.draw(callBars({ id: "users", title, what: who, bars }))}${table(
  [
    { title: under === "rules" ? "User" : "Caller", name: true, cell: ({ name }) => name },
    { title: "Calls", number: true, cell: ({ calls }) => count(calls) },
    { title: "Refused", number: true, cell: ({ refused }) => count(refused) },
    { title: "Share", number: true, cell: ({ calls, refused }) => share(refused / Math.max(1, calls)) },
    ...useTitles.map((title, place) => ({
      title,
      number: true as const,
      cell: ({ uses }: ReplayView["users"][number]) => useText(uses[place] ?? null),
    })),
    {
      title: "First refused",
      number: true,
      cell: ({ firstRefusedAt }) => (firstRefusedAt === null ? "never" : instant(firstRefusedAt)),
    },
  ],
  listed,
  {
    caption:
      under === "rules"
        ? "Calls of each user, and how full the user's own windows were"
        : "Calls of each caller, and how full the windows were that they were charged to",
    titled: true,
    more:
      listed.length < totals.users
        ? `The ${count(listed.length)} most refused of ${counted(totals.users, who)}; replay.json has more.`
        : null,
  },
)}</figure></section>
`;
}

const useText = (use: number | null): string => (use === null ? "–" : share(use));
