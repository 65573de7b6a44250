// Relations between routes: whether one matches all requests of another.
import type { Route } from "./policy.ts";

const parameter = /^\{(\w+)\}$/;
const segmentsOf = (path: string): string[] => path.split("/").slice(1);

/** Returns the attributes that a path's segments fill. */
export const attributesOfPath = (path: string): string[] =>
  segmentsOf(path).flatMap((segment) => parameter.exec(segment)?.[1] ?? []);

/** Returns the attributes of the caller that requests of a route fill. */
export const attributesOfRoute = ({ path, attributes }: Route): string[] => [
  ...attributesOfPath(path),
  ...Object.keys(attributes),
];

/** Tells whether every path of `narrow` is one of `broad`. */
function coversPath(broad: string, narrow: string): boolean {
  const [wide, tight] = [segmentsOf(broad), segmentsOf(narrow)];
  for (const [place, segment] of wide.entries()) {
    if (segment === "**") return tight.length >= place;
    const other = tight[place];
    if (other === undefined || other === "**") return false;
    if (segment !== other && !parameter.test(segment)) return false;
  }
  return wide.length === tight.length;
}

const methodsOf = ({ methods }: Route): readonly string[] | undefined =>
  methods?.map((method) => method.toUpperCase());

/** Tells whether no request reaches `later`, since `earlier` matches all its requests. */
export function hides(earlier: Route, later: Route): boolean {
  const own = methodsOf(earlier);
  return (
    (own === undefined || (methodsOf(later)?.every((method) => own.includes(method)) ?? false)) &&
    (earlier.host === undefined || earlier.host.toLowerCase() === later.host?.toLowerCase()) &&
    (earlier.graphql === undefined || earlier.graphql === later.graphql) &&
    coversPath(earlier.path, later.path)
  );
}

/** Tells whether two routes match the same requests. */
export const isSame = (one: Route, other: Route): boolean => hides(one, other) && hides(other, one);
