// Refusals, and the callers that they hit: over time, by population, by user.

import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import type { Series, TrafficSlot } from "../summary/series.ts";
import type { Figures, PopulationSummary, Summary, UserSummary } from "../summary/summary.ts";
import { type CallBar, callBars, callsOverTime } from "./call-bars.ts";
import { figureText, ownerName, share } from "./format.ts";
import { type Html, html } from "./html.ts";
import { callsOf, refusalColumns, refusedOf } from "./outcomes.ts";
import type { Gallery } from "./picture.ts";
import { type ReportSource, refusalWords } from "./source.ts";
import { type Column, foldedTable, table } from "./table.ts";

const usersDrawn = 10;
const usersListed = 40;

export function refusalsSection(source: ReportSource, gallery: Gallery): Html {
  const { summary } = source.run;
  return html`<section id="refusals">
<h2>What was refused, and whom it hit</h2>
<p>${refusalWords(summary)}${gaveUpWords(summary)}</p>
${trafficFigure(source, gallery)}${populationFigure(summary, gallery)}${usersFigure(summary, gallery)}</section>
`;
}

function gaveUpWords({ figures }: Summary): string {
  const gaveUp = figures.gaveUp;
  if (figures.refused === 0) return "";
  return gaveUp === 0
    ? " Every job that was refused was tried again and got through, or was still waiting at the end."
    : ` ${counted(gaveUp, "job")} ended with a refusal: given up, or still waiting at the end.`;
}

function trafficFigure({ run, series }: ReportSource, gallery: Gallery): Html | null {
  const { summary } = run;
  if (summary.figures.calls === 0) return null;
  const { traffic, slotMs, lengthMs } = series;
  const picture = callsOverTime({
    id: "traffic",
    title: "Calls over time",
    label: trafficLabel(summary, series),
    slots: traffic,
    slotMs,
    lengthMs,
  });
  return html`<figure><h3>${picture.title}</h3>
<figcaption>Answers in each ${duration(slotMs)}, at the time of the answer.</figcaption>
${gallery.draw(picture)}${trafficTable(series, summary.refusedBy !== undefined)}</figure>
`;
}

/** Returns the populations' figure. A single population gets no bar, which would repeat its row. */
function populationFigure(summary: Summary, gallery: Gallery): Html {
  const bars = summary.populations
    .map(({ name, figures }) => callBar(shortName(name), figures))
    .filter(hasCalls);
  const picture = { id: "populations", title: "By population", what: "population", bars };
  return html`<figure><h3>By population</h3>
${bars.length > 1 ? gallery.draw(callBars(picture)) : null}${populationTable(summary)}</figure>
`;
}

function usersFigure(summary: Summary, gallery: Gallery): Html | null {
  const nameOf = userNames(summary);
  const bars = summary.users
    .slice(0, usersDrawn)
    .map((user) => callBar(nameOf(user), user.figures))
    .filter(hasCalls);
  if (bars.length === 0) return null;
  const title = usersTitle(summary);
  return html`<figure><h3>${title}</h3>
<figcaption>${usersCaption(summary)}</figcaption>
${gallery.draw(callBars({ id: "users", title, what: "user", bars }))}${userTable(summary)}</figure>
`;
}

function trafficLabel(summary: Summary, { traffic, slotMs, lengthMs }: Series): string {
  const worst = traffic.reduce<TrafficSlot | null>(
    (most, slot) => (most === null || refusedOf(slot) > refusedOf(most) ? slot : most),
    null,
  );
  const peak =
    worst === null || refusedOf(worst) === 0
      ? ""
      : ` Most were refused ${duration(worst.atMs)} after the start: ${count(refusedOf(worst))} within ${duration(slotMs)}.`;
  return `Calls over ${duration(lengthMs)}. ${refusalWords(summary)}${peak}`;
}

function trafficTable({ traffic, slotMs }: Series, isByQuota: boolean): Html {
  const columns: Column<TrafficSlot>[] = [
    { title: "From", name: true, cell: ({ atMs }) => duration(atMs) },
    { title: "Admitted", number: true, cell: ({ admitted }) => count(admitted) },
    ...refusalColumns(traffic, (slot) => slot, isByQuota),
    { title: "Unanswered", number: true, cell: ({ unanswered }) => count(unanswered) },
  ];
  return foldedTable(columns, traffic, { caption: `Answers in each ${duration(slotMs)}` });
}

const populationColumns = {
  calls: "Calls",
  admitted: "Admitted",
  refused: "Refused",
  refusedShare: "Share",
  gaveUp: "Never through",
  unanswered: "Unanswered",
  statusCalls: "Status calls",
} as const;

/** Returns the populations' table without empty columns: a phone is narrow. */
function populationTable({ populations }: Summary): Html {
  const always = ["calls", "admitted", "refused", "refusedShare"];
  const names = (Object.keys(populationColumns) as (keyof typeof populationColumns)[]).filter(
    (name) => always.includes(name) || populations.some(({ figures }) => figures[name] !== 0),
  );
  const columns: Column<PopulationSummary>[] = [
    { title: "Population", name: true, cell: ({ name }) => shortName(name) },
    { title: "Clients", number: true, cell: ({ clients }) => count(clients) },
    ...names.map(
      (name): Column<PopulationSummary> => ({
        title: populationColumns[name],
        number: true,
        cell: ({ figures }) => figureText(name, figures[name]),
      }),
    ),
  ];
  return table(columns, populations, { caption: "Calls and refusals of each population", titled: true });
}

/** Returns a function that names users, without the organization if there is only one. */
function userNames({ users }: Summary): (user: UserSummary) => string {
  const organizations = new Set(users.map(({ org }) => org)).size;
  return ({ org, user }) => (organizations > 1 ? ownerName(org, user) : shortName(user));
}

function callBar(name: string, figures: Figures): CallBar {
  const { admitted, refused, refusedByUser, refusedByOrganization, unanswered } = figures;
  const isByQuota = refusedByUser === null || refusedByOrganization === null;
  return {
    name,
    admitted,
    refusedByUser: isByQuota ? 0 : refusedByUser,
    refusedByOrganization: isByQuota ? 0 : refusedByOrganization,
    refusedByQuota: isByQuota ? refused : 0,
    refusedByUnknown: isByQuota ? 0 : refused - refusedByUser - refusedByOrganization,
    unanswered,
  };
}

const hasCalls = (bar: CallBar): boolean => callsOf(bar) > 0;

function usersTitle({ figures, usersSeen }: Summary): string {
  if (usersSeen <= usersDrawn) return "By user";
  return figures.refused === 0 ? "The users who called most" : "The users who were refused most";
}

function usersCaption({ users, usersSeen, figures }: Summary): string {
  const refused = users.filter((one) => one.figures.refused > 0).length;
  const hit =
    refused === 0
      ? "No user was refused."
      : `${count(refused)} of ${counted(usersSeen, "user")} ${refused === 1 ? "was" : "were"} refused at least once.`;
  const { fairness } = figures;
  return fairness === null
    ? hit
    : `${hit} Admitted calls were shared with a fairness of ${figureText("fairness", fairness)} (Jain's index: 1 is even, 1/n is one user having everything).`;
}

function userTable({ users, usersSeen }: Summary): Html {
  const columns: Column<UserSummary>[] = [
    { title: "User", name: true, cell: ({ org, user }) => ownerName(org, user) },
    { title: "Admitted", number: true, cell: ({ figures }) => figureText("admitted", figures.admitted) },
    { title: "Refused", number: true, cell: ({ figures }) => figureText("refused", figures.refused) },
    {
      title: "Share",
      number: true,
      cell: ({ figures }) => (figures.refusedShare === null ? "–" : share(figures.refusedShare)),
    },
    { title: "Never through", number: true, cell: ({ figures }) => figureText("gaveUp", figures.gaveUp) },
    { title: "Wait, 95%", number: true, cell: ({ figures }) => figureText("waitP95Ms", figures.waitP95Ms) },
  ];
  const listed = users.slice(0, usersListed);
  const more =
    listed.length < usersSeen
      ? `The ${count(listed.length)} most refused of ${counted(usersSeen, "user")}; summary.json has more.`
      : null;
  return foldedTable(columns, listed, { caption: "Calls and refusals of each user", more });
}
