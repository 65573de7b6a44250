// What a GraphQL query costs (SPEC.md §1): every object-typed field is one point, times the page sizes of the
// connections above it.
//
// A connection's page size multiplies what lies beneath its `edges`, and nothing else: `edges` itself is one
// field of the connection, as `pageInfo` is. So `organization { pipelines(first: 500) { edges { node { name } } } }`
// is 1 + 1 + 1 + 500 x 1 = 503, the documented figure, and not 1 + 1 + 500 + 500.
import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";

/** The page size of a connection that names none (SPEC.md §1). */
const PAGE_SIZE_ABSENT = 500;
/** A query above so many requested points is not executed (SPEC.md §6). */
export const POINTS_MOST = 50_000;
/** A query that nests fields deeper is not executed (SPEC.md §6). */
const DEPTH_MOST = 15;
/** Looking at a query ends here: each object-typed field is a point at least, and text is read in bounded time. */
const VISITS_MOST = 200_000;

/** Points of a query as it asks. */
export interface RequestedPoints {
  readonly points: number;
  /** Of them, for `__schema` and `__type`: one each, whatever they ask. Their depth is graphql-js's to bound. */
  readonly introspection: number;
}

/**
 * The page size that a connection's arguments ask for.
 * @throws GraphQLError where both `first` and `last` are given, or one is negative
 */
export function pageSize(args: { readonly first?: unknown; readonly last?: unknown }): number {
  const first = args.first ?? null;
  const last = args.last ?? null;
  if (first !== null && last !== null) throw new GraphQLError("Give either `first` or `last`, not both.");
  const size = Number(first ?? last ?? PAGE_SIZE_ABSENT);
  if (size < 0) throw new GraphQLError("`first` and `last` must not be negative.");
  return size;
}

/**
 * Prices a query that has been validated against the schema, without executing it. `@skip` and `@include` are
 * heeded; fields that the executor merges are counted once.
 * @param variables coerced values
 * @throws GraphQLError where it is deeper than `DEPTH_MOST`, too long to look at, or its page sizes are no use
 */
export function requestedPoints(
  root: GraphQLObjectType,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>,
): RequestedPoints {
  const walk = new Walk(fragments, variables);
  walk.fields(root, [operation.selectionSet], { multiplier: 1, size: 1, depth: 1 });
  return { points: walk.points, introspection: walk.introspection };
}

/** Where the walk stands. */
interface Place {
  /** How many times the enclosing object may come back. */
  readonly multiplier: number;
  /** The page size, directly in a connection. */
  readonly size: number;
  readonly depth: number;
}

class Walk {
  points = 0;
  introspection = 0;
  #visits = 0;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Readonly<Record<string, unknown>>;

  constructor(
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    variables: Readonly<Record<string, unknown>>,
  ) {
    this.#fragments = fragments;
    this.#variables = variables;
  }

  fields(type: GraphQLObjectType, selections: readonly SelectionSetNode[], place: Place): void {
    const byResponseName = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    for (const selection of selections) this.#collect(selection, byResponseName, spread);
    if (byResponseName.size > 0 && place.depth > DEPTH_MOST)
      throw new GraphQLError(`Query is nested deeper than ${DEPTH_MOST} fields.`);
    for (const nodes of byResponseName.values()) this.#field(type, nodes, place);
  }

  #field(type: GraphQLObjectType, nodes: readonly FieldNode[], { multiplier, size, depth }: Place): void {
    const [node] = nodes;
    const name = node?.name.value ?? "";
    const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (name.startsWith("__")) {
      if (below.length > 0) {
        this.#add(multiplier);
        this.introspection += 1;
      }
      return;
    }
    const field = type.getFields()[name];
    const inner = field === undefined ? undefined : getNamedType(field.type);
    if (node === undefined || field === undefined || !isObjectType(inner)) return;
    this.#add(multiplier);
    // Under an empty page nothing comes back, however much is asked.
    const within = isConnection(type) && name === "edges" ? atMostSafe(multiplier * size) : multiplier;
    if (within === 0) return;
    const pages = isConnection(inner) ? pageSize(getArgumentValues(field, node, this.#variables)) : 1;
    this.fields(inner, below, { multiplier: within, size: pages, depth: depth + 1 });
  }

  #add(points: number): void {
    this.points = atMostSafe(this.points + points);
  }

  /** Fields by response name, as the executor collects them. Every type is an object, so every fragment fits. */
  #collect({ selections }: SelectionSetNode, into: Map<string, FieldNode[]>, spread: Set<string>): void {
    for (const selection of selections) {
      this.#visits += 1;
      if (this.#visits > VISITS_MOST) throw new GraphQLError("Query has too many fields.");
      if (!this.#included(selection)) continue;
      if (selection.kind === "Field") {
        const key = selection.alias?.value ?? selection.name.value;
        const same = into.get(key);
        if (same === undefined) into.set(key, [selection]);
        else same.push(selection);
      } else if (selection.kind === "InlineFragment") {
        this.#collect(selection.selectionSet, into, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = this.#fragments.get(selection.name.value);
        if (fragment !== undefined) this.#collect(fragment.selectionSet, into, spread);
      }
    }
  }

  #included(node: SelectionNode): boolean {
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    if (skip?.["if"] === true) return false;
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return include?.["if"] !== false;
  }
}

const isConnection = (type: GraphQLObjectType): boolean => type.name.endsWith("Connection");
const atMostSafe = (points: number): number => Math.min(points, Number.MAX_SAFE_INTEGER);

/** Counts what comes back while a query is executed: a field resolver for `execute`, and its sum. */
export class ActualPoints {
  points = 0;

  /** The default resolver, and one point for every object-typed field that has a value. */
  readonly resolve: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    const value = defaultFieldResolver(source, args, context, info);
    if (value !== null && value !== undefined && isObjectType(getNamedType(info.returnType)))
      this.points += 1;
    return value;
  };
}
