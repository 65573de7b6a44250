// Whom a replay would have hit, and how full each user's own windows were.

import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import type { ReplayResult } from "../summary/replay-result.ts";
import { type CallBar, callBars } from "./call-bars.ts";
import { instant, ownerName, share } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery } from "./picture.ts";
import { table } from "./table.ts";

const usersDrawn = 12;
const usersListed = 25;

export function usersSection(result: ReplayResult, gallery: Gallery): Html | null {
  const { users, totals } = result;
  if (users.length === 0) return null;
  const several = totals.organizations > 1;
  const bars = users.slice(0, usersDrawn).map(
    ({ org, user, calls, refusedByUser, refusedByOrganization }): CallBar => ({
      name: several ? ownerName(org, user) : shortName(user),
      admitted: calls - refusedByUser - refusedByOrganization,
      refusedByUser,
      refusedByOrganization,
      refusedByQuota: 0,
      refusedByUnknown: 0,
      unanswered: 0,
    }),
  );
  const listed = users.slice(0, usersListed);
  const title =
    totals.users <= usersDrawn
      ? "By user"
      : totals.refused === 0
        ? "The users who called most"
        : "The users who would have been refused most";
  return html`<section id="users">
<h2>Whom it would have hit</h2>
<figure><h3>${title}</h3>
${gallery.draw(callBars({ id: "users", title, what: "user", bars }))}${table(
  [
    { title: "User", name: true, cell: ({ org, user }) => ownerName(org, user) },
    { title: "Calls", number: true, cell: ({ calls }) => count(calls) },
    { title: "Refused", number: true, cell: ({ refused }) => count(refused) },
    { title: "Share", number: true, cell: ({ calls, refused }) => share(refused / Math.max(1, calls)) },
    { title: "Fullest REST window", number: true, cell: ({ restUseMax }) => useText(restUseMax) },
    { title: "GraphQL", number: true, cell: ({ graphqlUseMax }) => useText(graphqlUseMax) },
    {
      title: "First refused",
      cell: ({ firstRefusedAt }) => (firstRefusedAt === null ? "never" : instant(firstRefusedAt)),
    },
  ],
  listed,
  {
    caption: "Calls of each user, and how full the user's own windows were",
    titled: true,
    more:
      listed.length < totals.users
        ? `The ${count(listed.length)} most refused of ${counted(totals.users, "user")}; replay.json has more.`
        : null,
  },
)}</figure></section>
`;
}

const useText = (use: number | null): string => (use === null ? "–" : share(use));
