// A GraphQL query on the sample data, in two steps: `prepareQuery` prices what it requests, and `executeQuery` returns
// what came back. Admission lies between them.
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  GraphQLError,
  getOperationAST,
  getVariableValues,
  Lexer,
  parse,
  Source,
  TokenKind,
  validate,
} from "graphql";
import {
  ActualPoints,
  FIELDS_MOST,
  NAMES_MOST,
  POINTS_MOST,
  type RequestedPoints,
  requestedPoints,
} from "./complexity.ts";
import { once } from "./once.ts";
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
  /** Requested points of the schema's description of itself, a part of `requested`. */
  readonly introspection: number;
}

/** A query that is not executed and counts nothing. */
export interface RejectedQuery {
  readonly errors: readonly GraphQLError[];
  /** Requested points; 0 if the query could not be priced. */
  readonly requested: number;
}

/** Most tokens of a query, far above any that a person writes: validation compares fields pair by pair. */
const TOKENS_MOST = 10_000;
/** Most brackets inside one another: graphql-js reads them by recursion, and fails at some thousand. */
const NESTING_MOST = 200;

const rejected = (...errors: readonly GraphQLError[]): RejectedQuery => ({ errors, requested: 0 });

/** Parses, validates and prices a query. */
export function prepareQuery({
  query,
  operationName = null,
  variables,
}: GraphqlQuery): PreparedQuery | RejectedQuery {
  try {
    const read = query.length > KEPT_LENGTH_MOST ? documentOf(query) : keptDocument(query);
    return "errors" in read ? read : priceQuery(read, operationName, variables ?? {});
  } catch (error) {
    if (error instanceof GraphQLError) return rejected(error);
    throw error;
  }
}

/** Reads a query's text. @throws GraphQLError if it is not GraphQL */
function documentOf(query: string): DocumentNode | RejectedQuery {
  if (nestsTooDeep(query))
    return rejected(new GraphQLError(`Query is nested deeper than ${NESTING_MOST} brackets.`));
  const document = parse(query, { maxTokens: TOKENS_MOST });
  const errors = validate(schema, document);
  return errors.length > 0 ? rejected(...errors) : document;
}

/** The latest documents, by their text: a load sends a few queries a thousand times each. */
const keptDocument = once(64, documentOf);
/** Greatest length of a query whose document is kept, characters. */
const KEPT_LENGTH_MOST = 4096;

/** Tells whether a query nests its brackets too deep. @throws GraphQLError if it has an invalid token */
function nestsTooDeep(query: string): boolean {
  if (query.split(/[{[(]/).length - 1 <= NESTING_MOST) return false;
  // Some of the brackets may stand in strings and comments.
  const lexer = new Lexer(new Source(query));
  let depth = 0;
  for (;;) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return false;
    if ("{[(".includes(kind)) depth += 1;
    if ("}])".includes(kind)) depth -= 1;
    if (depth > NESTING_MOST) return true;
  }
}

function priceQuery(
  document: DocumentNode,
  operationName: string | null,
  variables: Readonly<Record<string, unknown>>,
): PreparedQuery | RejectedQuery {
  const operation = getOperationAST(document, operationName);
  if (!operation)
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
  const asked = requestedPoints(operation, fragments, values.coerced);
  const { points: requested, introspection } = asked;
  const message = excessOf(asked);
  if (message !== null) return { errors: [new GraphQLError(message)], requested };
  return { document, operationName, variables, requested, introspection };
}

/** Returns the message on a query that requests too much; `null` if it may be executed. */
function excessOf({ points, fields, names }: RequestedPoints): string | null {
  if (points > POINTS_MOST)
    return `Query asks for ${points} complexity points, above the ${POINTS_MOST} that one query may ask for.`;
  if (fields > FIELDS_MOST)
    return `Query would resolve ${fields} fields, above the ${FIELDS_MOST} that one query may resolve.`;
  if (names > NAMES_MOST)
    return `Query's names would take ${names} characters of its answer, above the ${NAMES_MOST} that they may take.`;
  return null;
}

/** Executes a prepared query as a user of an organization. `actual` is never above `requested`. */
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
  // Execution is synchronous, because every resolver is.
  return { result: result as ExecutionResult, actual: introspection + counted.points };
}
