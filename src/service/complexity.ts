// The cost of a GraphQL query (SPEC.md §1): every object-typed field is one point, times the page sizes of the
// connections above it.
//
// A connection's page size multiplies what lies beneath its `edges`, and nothing else. `edges` itself is one field of
// the connection, as `pageInfo` is. Thus `organization { pipelines(first: 500) { edges { node { name } } } }` costs
// 1 + 1 + 1 + 500 x 1 = 503, the documented figure, and not 1 + 1 + 500 + 500.
import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from "graphql";
import { BUILDS, PIPELINES } from "./sample-data.ts";
import { pageSize, queryType, schema } from "./schema.ts";

/** Most requested points of a query that is executed (SPEC.md §6). */
export const POINTS_MOST = 50_000;
/** Greatest depth of fields in a query that is executed (SPEC.md §6). */
const DEPTH_MOST = 15;
/** Most fields that the walk over a query visits. It bounds the walk's time, as each object-typed field is a point. */
const VISITS_MOST = 200_000;
/** Most fields that a query may resolve: leaves cost no points, but they cost time (SPEC.md §6). */
export const FIELDS_MOST = 100_000;
/** Most characters that a query's names may take in the answer: aliases have no other bound. */
export const NAMES_MOST = 4_000_000;

/** Number of items of each kind of connection: no page returns more, whatever its size. */
export const itemsMost: Readonly<Record<string, number>> = {
  PipelineConnection: PIPELINES,
  BuildConnection: BUILDS,
};

/** Points that a query requests. */
export interface RequestedPoints {
  readonly points: number;
  /** Points for `__schema`, `__type` and the fields below them, whose results are known before execution. */
  readonly introspection: number;
  /** Number of fields that the query would resolve, leaves included. */
  readonly fields: number;
  /** Number of characters of their names in the answer. */
  readonly names: number;
}

/**
 * Prices a query that has been validated against the schema, without executing it. It obeys `@skip` and `@include`, and
 * counts fields that the executor merges once.
 * @param variables coerced values
 * @throws GraphQLError if the query is deeper than `DEPTH_MOST`, too long to walk, or has unusable page sizes
 */
export function requestedPoints(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>,
): RequestedPoints {
  const walk = new Walk(fragments, variables);
  walk.objects(queryType, [operation.selectionSet], { multiplier: 1, objects: 1, size: 1, depth: 1 });
  const { points, introspection, fields, names } = walk;
  return { points, introspection, fields, names };
}

/** A place of the walk. */
interface Place {
  /** Greatest number of enclosing objects that may come back, by the page sizes above. */
  readonly multiplier: number;
  /** Greatest number of enclosing objects by the data that exist. */
  readonly objects: number;
  /** Page size if the place is directly in a connection. */
  readonly size: number;
  readonly depth: number;
}

/** Fields of one response name, which the executor merges. */
type SameFields = [FieldNode, ...FieldNode[]];

class Walk {
  points = 0;
  introspection = 0;
  fields = 0;
  names = 0;
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

  objects(type: GraphQLObjectType, selections: readonly SelectionSetNode[], place: Place): void {
    const found = this.#collected(selections);
    if (found.size > 0 && place.depth > DEPTH_MOST)
      throw new GraphQLError(`Query is nested deeper than ${DEPTH_MOST} fields.`);
    for (const [name, nodes] of found) {
      this.#resolve(name, place.objects);
      this.#field(type, nodes, place);
    }
  }

  #field(type: GraphQLObjectType, nodes: SameFields, place: Place): void {
    const [node] = nodes;
    const name = node.name.value;
    if (name === SchemaMetaFieldDef.name || name === TypeMetaFieldDef.name) {
      this.#introspect(1);
      this.#describe(name, nodes);
      return;
    }
    const field = type.getFields()[name];
    if (field === undefined) return;
    const inner = getNamedType(field.type);
    if (!isObjectType(inner)) return;
    const { multiplier, objects, size, depth } = place;
    this.#add(multiplier);
    const items = name === "edges" ? itemsMost[type.name] : undefined;
    const within = items === undefined ? multiplier : atMostSafe(multiplier * size);
    // An empty page returns nothing, whatever its fields request.
    if (within === 0) return;
    this.objects(inner, belowOf(nodes), {
      multiplier: within,
      objects: items === undefined ? objects : objects * Math.min(size, items),
      size: pageSize(getArgumentValues(field, node, this.#variables)),
      depth: depth + 1,
    });
  }

  /** Prices what is below `__schema` and `__type`. graphql-js bounds their depth. */
  #describe(name: string, nodes: SameFields): void {
    const isSchema = name === SchemaMetaFieldDef.name;
    const field = isSchema ? SchemaMetaFieldDef : TypeMetaFieldDef;
    // Both fields describe objects.
    const type = getNamedType(field.type) as GraphQLObjectType;
    const args = getArgumentValues(field, nodes[0], this.#variables);
    const described = isSchema ? schema : schema.getType(String(args["name"]));
    if (described !== undefined) this.#values(type, belowOf(nodes), [described]);
  }

  /** Prices fields of the schema's description of itself by their values. */
  #values(
    type: GraphQLObjectType,
    selections: readonly SelectionSetNode[],
    values: readonly unknown[],
  ): void {
    if (values.length === 0) return;
    for (const [name, nodes] of this.#collected(selections)) {
      this.#resolve(name, values.length);
      // Such a query is not executed, and the walk would take as long as its execution.
      if (this.fields > FIELDS_MOST) return;
      const [node] = nodes;
      const field = type.getFields()[node.name.value];
      const inner = getNamedType(field?.type);
      if (field?.resolve === undefined || !isObjectType(inner)) continue;
      const { resolve } = field;
      const args = getArgumentValues(field, node, this.#variables);
      // Introspection's resolvers read only the schema of all that a resolver receives.
      const info = { schema } as unknown as GraphQLResolveInfo;
      const found = values
        .map((value): unknown => resolve(value, args, undefined, info))
        .filter((one) => one !== null && one !== undefined);
      this.#introspect(found.length);
      this.#values(inner, belowOf(nodes), found.flat());
    }
  }

  #introspect(points: number): void {
    this.#add(points);
    this.introspection += points;
  }

  #add(points: number): void {
    this.points = atMostSafe(this.points + points);
  }

  /** Counts a field once for each object that will resolve it. */
  #resolve(name: string, objects: number): void {
    this.fields += objects;
    this.names += objects * name.length;
  }

  #collected(selections: readonly SelectionSetNode[]): Map<string, SameFields> {
    const byResponseName = new Map<string, SameFields>();
    const spread = new Set<string>();
    for (const selection of selections) this.#collect(selection, byResponseName, spread);
    return byResponseName;
  }

  /** Collects fields by response name, as the executor does. Every type is an object, so every fragment fits. */
  #collect({ selections }: SelectionSetNode, into: Map<string, SameFields>, spread: Set<string>): void {
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

const belowOf = (nodes: readonly FieldNode[]): SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
const atMostSafe = (points: number): number => Math.min(points, Number.MAX_SAFE_INTEGER);

/** Counts what comes back while a query is executed, by a field resolver for `execute`. */
export class ActualPoints {
  points = 0;

  /** Resolves a field as by default, and adds a point for every object-typed field that has a value. */
  readonly resolve: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    const value = defaultFieldResolver(source, args, context, info);
    if (value !== null && isObjectType(getNamedType(info.returnType))) this.points += 1;
    return value;
  };
}
