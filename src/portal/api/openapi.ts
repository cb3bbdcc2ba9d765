import { z } from 'zod'
import { lookup } from '../../user/lookup.ts'
import { audience } from '../settings/tokens.ts'
import { answers, parameters, problemShape } from './shapes.ts'

interface Route {
  readonly path: string
  readonly summary: string
  /** Absent: `usage`. */
  readonly tag?: 'credits'
  /** Media types and their schema; absent for a shape of `answers`. */
  readonly media?: readonly string[]
  /** Absent: those of a question with filters. */
  readonly errors?: readonly number[]
  /** The header `Link` has the next file. */
  readonly isPaged?: boolean
}

const ofFilters = [400, 401, 403, 404, 429, 503]
/** A question without filters has no name that may be unknown. */
const unfiltered = [400, 401, 403, 429, 503]
/** What every token shows is forbidden to none. */
const always = [400, 401, 429, 503]

const files = ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet']

export const routes = {
  account: {
    path: '/v1/account',
    summary: 'What the token may see, and which time is covered',
    errors: unfiltered,
  },
  summary: { path: '/v1/usage/summary', summary: 'Sums of a period and of the one before' },
  series: { path: '/v1/usage/series', summary: 'At most 400 bars, of at most 10 series' },
  breakdown: {
    path: '/v1/usage/breakdown',
    summary: 'Sums by one dimension, the largest first',
  },
  requests: {
    path: '/v1/usage/requests',
    summary: 'Single requests, the newest or the greatest first; a period of at most 31 days',
  },
  credits: {
    path: '/v1/credits',
    tag: 'credits',
    summary: 'Credits held, used and left, by grant',
    errors: unfiltered,
  },
  budgets: {
    path: '/v1/budgets',
    tag: 'credits',
    summary: 'Budgets, each with what was used of it in its present period',
    errors: always,
  },
  outlook: {
    path: '/v1/credits/outlook',
    tag: 'credits',
    summary: 'The forecast with its ranges, and what expires',
    errors: unfiltered,
  },
  alerts: {
    path: '/v1/alerts',
    summary: 'Alerts that were sent, the newest first, each with its delivery',
    errors: always,
  },
  notices: { path: '/v1/notices', summary: 'At most three things to know', errors: unfiltered },
  export: {
    path: '/v1/export',
    summary: 'The sums as a file',
    media: files,
  },
  exportRequests: {
    path: '/v1/export/requests',
    summary: 'Single requests and refunds as files, the oldest first',
    media: files,
    isPaged: true,
  },
  live: {
    path: '/v1/live',
    summary: 'Says that figures changed; has no figures',
    media: ['text/event-stream'],
    errors: unfiltered,
  },
} as const satisfies Record<keyof typeof parameters, Route>
export type RouteName = keyof typeof routes

/** The published description of the API: OpenAPI 3.1, from the shapes that check it. */
export function openapiDocument(): object {
  const ref = (id: string) => ({ $ref: `#/components/schemas/${id}` })
  const problem = { $ref: '#/components/responses/Problem' }
  const schemas: Record<string, unknown> = lookup()
  /** Nested shapes with an id become components of their own. */
  const lift = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lift)
    if (typeof value !== 'object' || value === null) return value
    const { $defs, $schema: _, $id: __, id: ___, ...rest } = value as Record<string, unknown>
    for (const [name, each] of Object.entries(($defs ?? {}) as object)) schemas[name] ??= lift(each)
    const entries = Object.entries(rest).map(([name, each]) => [
      name,
      name === '$ref' ? String(each).replace('#/$defs/', '#/components/schemas/') : lift(each),
    ])
    return Object.fromEntries(entries)
  }
  for (const shape of [...Object.values(answers), problemShape]) {
    const { id } = shape.meta() as { id: string }
    const lifted = lift(z.toJSONSchema(shape, { io: 'output' })) as object
    // A shape with an id refers to its own definition.
    if (!('$ref' in lifted)) schemas[id] = lifted
  }
  const paths = Object.fromEntries(
    Object.entries(routes as Record<RouteName, Route>).map(([name, route]) => {
      const { path, summary, tag = 'usage', media, isPaged = false, errors = ofFilters } = route
      const shape = z.toJSONSchema(parameters[name as RouteName], { io: 'input' }) as {
        properties?: Record<string, { description?: string }>
        required?: readonly string[]
      }
      const listed = Object.entries(shape.properties ?? {}).map(([parameter, schema]) => {
        const { description, ...rest } = schema
        return {
          name: parameter,
          in: 'query',
          required: shape.required?.includes(parameter) ?? false,
          ...(description === undefined ? {} : { description }),
          schema: lift(rest),
        }
      })
      const content =
        media === undefined
          ? {
              'application/json': {
                schema: ref((answers[name as keyof typeof answers].meta() as { id: string }).id),
              },
            }
          : Object.fromEntries(media.map((type) => [type, { schema: { type: 'string' } }]))
      const operation = {
        operationId: `get${name[0]!.toUpperCase()}${name.slice(1)}`,
        tags: [tag],
        summary,
        parameters: listed,
        responses: {
          200: {
            description: summary,
            headers: {
              ETag: { $ref: '#/components/headers/ETag' },
              RateLimit: { $ref: '#/components/headers/RateLimit' },
              ...(isPaged ? { Link: { $ref: '#/components/headers/Link' } } : {}),
            },
            content,
          },
          ...(media === undefined ? { 304: { description: 'Nothing changed' } } : {}),
          ...Object.fromEntries(errors.map((status) => [status, problem])),
        },
      }
      return [path, { get: operation }]
    }),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Usage of an account',
      version: '1.0.0',
      summary: 'Read-only usage, credits and notices of the account that the token names',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that answered with this document' }],
    security: [{ account: [] }],
    tags: [
      { name: 'usage', description: 'What was used' },
      { name: 'credits', description: 'What is left' },
    ],
    paths,
    components: {
      securitySchemes: {
        account: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: `Claims: sub (the account), aud ${audience}, exp, nbf, iat, jti, shows, keys, origin`,
        },
      },
      headers: {
        ETag: {
          schema: { type: 'string' },
          description: 'Changes only with the account, the query, the token or the settings',
        },
        Link: {
          schema: { type: 'string' },
          description: 'The address of the next file, as rel="next"; absent for the last one',
        },
        RateLimit: { schema: { type: 'string' } },
      },
      responses: {
        Problem: {
          description: 'What was wrong',
          headers: { 'Retry-After': { schema: { type: 'integer' } } },
          content: { 'application/problem+json': { schema: ref('Problem') } },
        },
      },
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}
