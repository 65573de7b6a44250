// A GraphQL query on the sample data, in two steps, since it is admitted by what it asks before it is
// executed: `prepareQuery` says what it asks, `executeQuery` what came back.
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  GraphQLError,
  getOperationAST,
  getVariableValues,
  parse,
  validate,
} from "graphql";
import { ActualPoints, POINTS_MOST, requestedPoints } from "./complexity.ts";
import { rootValue, schema } from "./schema.ts";

/** The body of a GraphQL request. */
export interface GraphqlQuery {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A query that may be executed. */
export interface PreparedQuery {
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Requested points (SPEC.md §1). */
  readonly requested: number;
  /** Of them, those that reading the schema itself costs. */
  readonly introspection: number;
}

/** A query that is not executed, and counts nothing. */
export interface RejectedQuery {
  readonly errors: readonly GraphQLError[];
  /** Requested points; 0 where the query could not be priced. */
  readonly requested: number;
}

/** Far above any query a person writes; validation compares fields pair by pair. */
const TOKENS_MOST = 10_000;

const rejected = (...errors: readonly GraphQLError[]): RejectedQuery => ({ errors, requested: 0 });

/** Parses, validates and prices a query. */
export function prepareQuery({
  query,
  operationName = null,
  variables,
}: GraphqlQuery): PreparedQuery | RejectedQuery {
  try {
    const document = parse(query, { maxTokens: TOKENS_MOST });
    const errors = validate(schema, document);
    if (errors.length > 0) return rejected(...errors);
    return priceQuery(document, operationName, variables ?? {});
  } catch (error) {
    if (error instanceof GraphQLError) return rejected(error);
    throw error;
  }
}

function priceQuery(
  document: DocumentNode,
  operationName: string | null,
  variables: Readonly<Record<string, unknown>>,
): PreparedQuery | RejectedQuery {
  const operation = getOperationAST(document, operationName);
  const root = schema.getQueryType();
  if (operation === null || operation === undefined || root === null || root === undefined)
    return rejected(new GraphQLError("Name one of the document's operations in `operationName`."));
  if (operation.operation !== "query")
    return rejected(
      new GraphQLError(`There is no ${operation.operation} in this API: it only answers queries.`),
    );
  const values = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (values.errors !== undefined) return rejected(...values.errors);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === "FragmentDefinition") fragments.set(definition.name.value, definition);
  const { points, introspection } = requestedPoints(root, operation, fragments, values.coerced);
  if (points > POINTS_MOST) {
    const message = `Query asks for ${points} complexity points, above the ${POINTS_MOST} that one query may ask for.`;
    return { errors: [new GraphQLError(message)], requested: points };
  }
  return { document, operationName, variables, requested: points, introspection };
}

/** Executes a prepared query as one user of an organization. `actual` <= `requested`, always. */
export function executeQuery(
  { document, operationName, variables, introspection }: PreparedQuery,
  organization: string,
  user: string,
): { readonly result: ExecutionResult; readonly actual: number } {
  const counted = new ActualPoints();
  const result = execute({
    schema,
    document,
    operationName,
    variableValues: variables,
    rootValue: rootValue(organization, user),
    fieldResolver: counted.resolve,
  });
  // Every resolver is synchronous, so execution is.
  return { result: result as ExecutionResult, actual: introspection + counted.points };
}
