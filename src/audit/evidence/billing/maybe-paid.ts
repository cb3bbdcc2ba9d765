/**
 * SQL: whether a success of an endpoint without text may cost credits, which nothing promises: embeddings, and what asks another
 * endpoint to do something.
 *
 * @param method SQL of the method of the request
 */
export const maybePaidSql = (method: string): string =>
  `(endpoint = 'embeddings' OR (endpoint = 'other' AND ${method} NOT IN ('GET', 'HEAD', 'OPTIONS')))`
